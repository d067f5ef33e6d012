// CommandTests: the first test replaces this.
