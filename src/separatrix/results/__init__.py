"""What a fit leaves: verdict, claims, proofs, rules."""
