// HTTPServer: the room's first file replaces this.
