extension WriterCore {
    /// Brings registered extensions that another process left behind up to date, in the transaction that has just
    /// begun, and commits. Handles up to `CatchUpPace.entriesMaxFirst` changes of each; the next transaction goes on.
    ///
    /// A failure is not the next write's: the extension stays unreadable, as its file says.
    func catchUp() {
        do {
            try member(isAlone: true) { transaction in
                for use in try transaction.uses() where use.entry.canCatchUp {
                    use.entry.pace = CatchUpPace()
                    try ExtensionCatchUp(store).hand(to: use, in: transaction)
                }
            }
            try commit()
            for entry in store.extensions { entry.isChecked = false }
        } catch {
            abandon()
            for entry in store.extensions { entry.catchingUpFailed() }
        }
    }
}
