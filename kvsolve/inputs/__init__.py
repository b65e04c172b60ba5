"""What a user gives, read: command lines, environment, GPUs and models become facts."""
