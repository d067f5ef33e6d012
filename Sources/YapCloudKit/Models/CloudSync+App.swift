package import CloudKit
internal import System
internal import Yap

/// What the app reports to the sync, and its answers to the sync's questions.
extension CloudSync {
    // MARK: The app's life

    /// Starts no more uploads until the app is in the foreground again, because the system may stop the app during one.
    /// It may be called several times, and counts once.
    public func didEnterBackground() {
        // Under the lock: if the foreground's `resume()` came first, the uploads would stay suspended.
        isInBackground.withLock { isInBackground in
            if !isInBackground { cloudKit.suspend() }
            isInBackground = true
        }
    }

    /// Fetches what other devices changed meanwhile, and resumes uploads.
    public func willEnterForeground() {
        fetch()
        isInBackground.withLock { isInBackground in
            if isInBackground { cloudKit.resume() }
            isInBackground = false
        }
    }

    /// Ends pauses for the network. Call it when the system reports a network.
    public func networkMayBeBack() { cloudKit.networkMayBeBack() }

    // MARK: Users

    /// What happens to another user's objects on this device.
    public enum OtherAccountsObjects: Sendable {
        /// They stay, and still belong to that user. Changes of them wait until that user is signed in.
        case keep
        /// They are removed from this device, not from the cloud. Pending changes still go to that user's cloud, and
        /// the objects come back when that user signs in.
        case remove
    }

    /// Syncs as the signed-in user. This solves the problem `anotherUser`.
    ///
    /// Each user has a separate queue, so changes of one user are never sent as another's. New changes belong to this
    /// user.
    /// - Returns: Whether the user is another one than before.
    /// - Throws: `CKError` if no user is signed in or the server can't be reached; `YapDatabaseError` if the change
    ///   could not be written. Then nothing has changed.
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

    /// `useSignedInAccount` for an inline scheduler, with a user that is known.
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

    /// Resumes work that waits for a sign-in. Call it when `CKAccountChanged` is posted.
    public func accountMayHaveChanged() { cloudKit.accountMayHaveChanged() }

    // MARK: A zone that was deleted

    /// What happens to the objects on this device after an app or a person deleted their zone in the cloud, for
    /// instance with "Delete all data" on another device.
    ///
    /// A server that was restored from a backup deleted nothing, so records that it lost are always uploaded again. The
    /// server remembers a deleted zone for 180 days; later it looks like a lost one. Apple's servers don't report the
    /// deletion: there, every object that the server doesn't have is removed.
    public enum DeletedZonesObjects: Sendable {
        /// They stay, and are uploaded to the zone, which is created again. The merge log has an entry for each, with
        /// the rule `serverWasReset`.
        case keep
        /// They are removed here too. An object with a pending change stays and is uploaded, with the rule
        /// `editBeatDeletion` in the merge log.
        case remove
    }

    /// What happens to the objects on this device after the user deleted their zone in the cloud.
    public enum DeletedZoneAnswer: Sendable {
        /// Create the zone again, and upload the objects.
        case uploadAgain
        /// Remove the objects and the pending changes of the zone, then create the zone again, empty.
        case removeHere
    }

    /// Answers the problem `zoneDeletedByUser`, which only Apple's servers report. Nothing is sent or fetched before.
    ///
    /// - Returns: Whether the problem existed. If not, nothing is done.
    /// - Throws: `YapDatabaseError` if the removal could not be written. Then nothing is removed.
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
