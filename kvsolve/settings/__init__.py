"""What kvsolve is told once and for all: settings, environment, suppressions, baselines."""
