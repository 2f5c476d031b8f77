"""From a file to an answer: tables, evaluation, model files, exports, the report, tasks, the command line."""
