internal import CloudKit

/// What the sync uses of this package's CloudKit that Apple's framework has no public form for. Everything else in
/// this module is Apple's API, so these few are all that an Apple build does in another way.

extension CKDatabase {
    /// Who is signed in, as far as that is known without asking the server.
    ///
    /// An Apple build gives what the last `CKContainer.userRecordID()` said, which it asks at the start and whenever
    /// `CKAccountChanged` is posted, and forgets with that notification.
    var signedInUserRecordName: String? { knownUserRecordName }

    /// Calls `handler` with what is heard of other devices' changes in this database.
    ///
    /// An Apple build hears nothing here and gives an empty end: the app gets its pushes from the system, and hands
    /// them to `handle(_:)`.
    /// - Returns: what ends that.
    func observeChanges(_ handler: @escaping @Sendable (HeardChange) -> Void) -> @Sendable () -> Void {
        observeNotifications { event in
            switch event {
            case .listening(let wasForgotten): handler(.listening(wasForgotten: wasForgotten))
            case .interrupted(let error): handler(.interrupted(error))
            case .notification: handler(.change)
            }
        }
    }

    /// Whether the notification is about this database.
    ///
    /// An Apple build compares the scope, and the container's identifier with the one that the app names.
    func isTold(by notification: CKNotification) -> Bool { isMeant(by: notification) }
}

/// What is heard while listening to a database.
enum HeardChange {
    /// Changes are heard of from now on; the server had forgotten the device when `wasForgotten`.
    case listening(wasForgotten: Bool)
    /// Another device changed something.
    case change
    /// Nothing is heard until `listening` comes again.
    case interrupted(CKError)
}

extension CKDatabaseOperation {
    /// Whose operation it is: it fails when another user is signed in. Nil takes whoever is.
    ///
    /// An Apple build does nothing here. Apple's framework asks as whoever is signed in, so it compares who that is
    /// before the operation and after it, and throws the answer away when the user changed.
    func run(as userRecordName: String?) {
        self.userRecordName = userRecordName
    }
}
