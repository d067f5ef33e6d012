// HTTPServerTests: the first test replaces this.
