package import CloudKit
internal import System
internal import Yap

/// What the app tells the sync of the world around it, and what it answers when the sync asks.
extension CloudSync {
    // MARK: The app's life

    /// Starts no more uploads until the app is in the foreground again: it may be stopped in the middle of one. Call it
    /// as often as the system says so: it counts once.
    public func didEnterBackground() {
        // Under the lock: were the foreground's `resume()` first, the uploads would be suspended for good.
        isInBackground.withLock { isInBackground in
            if !isInBackground { cloudKit.suspend() }
            isInBackground = true
        }
    }

    /// Fetches what other devices changed meanwhile, and lets uploads go on.
    public func willEnterForeground() {
        fetch()
        isInBackground.withLock { isInBackground in
            if isInBackground { cloudKit.resume() }
            isInBackground = false
        }
    }

    /// The network may be back: what waited for it goes on at once. Call it when the system says so.
    public func networkMayBeBack() { cloudKit.networkMayBeBack() }

    // MARK: Users

    /// What shall become of another user's objects on this device.
    public enum OtherAccountsObjects: Sendable {
        /// They stay. They are still that user's: what is changed of them here waits until that user is signed in.
        case keep
        /// They are removed from this device, not from the cloud. What waits for that user's cloud still goes there,
        /// and they come back when that user does.
        case remove
    }

    /// Syncs as the user who is signed in now: the answer to the problem `anotherUser`.
    ///
    /// Each user has a queue of their own: nothing of one is ever sent as another's. What is added from now on is this
    /// user's.
    /// - Returns: Whether it is another user than before.
    /// - Throws: `CKError` when nobody is signed in or the server can't be asked; `YapDatabaseError` when it could not
    ///   be written. Then all is as before.
    @discardableResult
    public func useSignedInAccount(objectsOfOtherAccount: OtherAccountsObjects) async throws -> Bool {
        let userRecordID = try await container.userRecordID()
        let isAnother = try await connection.readWrite { [map, registeredName] transaction in
            try map.useAccount(
                of: userRecordID, objectsOfOtherAccount: objectsOfOtherAccount, transaction,
                try transaction.ext(registeredName, as: YapDatabaseCloudKit.self))
        }
        cloudKit.accountMayHaveChanged()
        return isAnother
    }

    /// `useSignedInAccount` for an inline scheduler, when it is known who is signed in.
    package func useAccountInline(
        of userRecordID: CKRecord.ID, objectsOfOtherAccount: OtherAccountsObjects
    ) throws -> Bool {
        let isAnother = try connection.blocking.readWrite { transaction in
            try map.useAccount(
                of: userRecordID, objectsOfOtherAccount: objectsOfOtherAccount, transaction,
                try transaction.ext(registeredName, as: YapDatabaseCloudKit.self))
        }
        cloudKit.accountMayHaveChanged()
        return isAnother
    }

    /// Somebody may have signed in or out: what stood still for that is tried again. Call it when `CKAccountChanged` is
    /// posted.
    public func accountMayHaveChanged() { cloudKit.accountMayHaveChanged() }

    // MARK: A zone that was deleted

    /// What happens to the objects here when an app or a person deleted their zone in the cloud, for instance with
    /// "Delete all data" on another device.
    ///
    /// A server that was restored from a backup deleted nothing: what it lost is always uploaded again. The server
    /// remembers a deleted zone for 180 days; later it can't be told from one that was lost. Apple's servers don't
    /// report it either: there every object is removed that the server doesn't have.
    public enum DeletedZonesObjects: Sendable {
        /// They stay, and are uploaded to the zone, which is made again. The merge log has an entry for each, with the
        /// rule `serverWasReset`.
        case keep
        /// They are removed here too. An object with a change that wasn't uploaded yet stays, and is uploaded: the
        /// merge log says so, with the rule `editBeatDeletion`.
        case remove
    }

    /// What shall become of the objects here, when the user deleted their zone in the cloud.
    public enum DeletedZoneAnswer: Sendable {
        /// Make the zone again, and upload what is here.
        case uploadAgain
        /// Remove what is here too, and what waits for the zone; then make it again, empty.
        case removeHere
    }

    /// Answers the problem `zoneDeletedByUser`: until then nothing is sent or fetched.
    ///
    /// - Returns: Whether the question was open. If not, nothing is done.
    /// - Throws: `YapDatabaseError`, when the removal could not be written. Nothing is removed then.
    @discardableResult
    public func answerDeletedZone(zoneName: String, _ answer: DeletedZoneAnswer) async throws -> Bool {
        guard isAsking(aboutZoneNamed: zoneName) else { return false }
        if answer == .removeHere {
            try await connection.readWrite { [map, registeredName] transaction in
                let ext = try transaction.ext(registeredName, as: YapDatabaseCloudKit.self)
                try map.removeObjects(inZoneNamed: zoneName, transaction, ext)
            }
        }
        cloudKit.retry()
        return true
    }

    /// `answerDeletedZone` for an inline scheduler.
    package func answerDeletedZoneInline(zoneName: String, _ answer: DeletedZoneAnswer) throws -> Bool {
        guard isAsking(aboutZoneNamed: zoneName) else { return false }
        if answer == .removeHere {
            try connection.blocking.readWrite { transaction in
                let ext = try transaction.ext(registeredName, as: YapDatabaseCloudKit.self)
                try map.removeObjects(inZoneNamed: zoneName, transaction, ext)
            }
        }
        cloudKit.retry()
        return true
    }

    private func isAsking(aboutZoneNamed zoneName: String) -> Bool {
        currentStatus.problems.contains(.zoneDeletedByUser(zoneName: zoneName))
    }
}
