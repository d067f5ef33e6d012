// EndToEndTests: the first test replaces this.
