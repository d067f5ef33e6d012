// CryptoTests: the first test replaces this.
