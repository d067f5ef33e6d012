// Nothing to call: the module is linked for what runs when the program is loaded.
