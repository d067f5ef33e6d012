// HTTPClientTests: the first test replaces this.
