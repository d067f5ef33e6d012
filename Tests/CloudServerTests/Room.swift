// CloudServerTests: the first test replaces this.
