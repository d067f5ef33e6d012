// CloudKitAdditions: the room's first file replaces this.
