"""From rows to a minimum and its proof. No scikit-learn here."""
