internal import CloudKit
internal import Seams
internal import Yap

/// What the app tells the sync of the world around it, and what it answers when the sync asks.
extension CloudSync {
    // MARK: The app's life

    /// Starts no more uploads until the app is in the foreground again: it may be stopped in the middle of one. Call it
    /// as often as the system says so: it counts once.
    public func didEnterBackground() {
        let isNew = isInBackground.withLock { isInBackground in
            defer { isInBackground = true }
            return !isInBackground
        }
        if isNew { cloudKit.suspend() }
    }

    /// Fetches what other devices changed meanwhile, and lets uploads go on.
    public func willEnterForeground() {
        let wasThere = isInBackground.withLock { isInBackground in
            defer { isInBackground = false }
            return isInBackground
        }
        fetch()
        if wasThere { cloudKit.resume() }
    }

    // MARK: A zone that the user deleted

    /// What shall become of the objects here, when the user deleted their zone in the cloud.
    public enum DeletedZoneAnswer: Sendable {
        /// Make the zone again, and upload what is here.
        case uploadAgain
        /// Remove what is here too, and what waits for the zone; then make it again, empty.
        case removeHere
    }

    /// Answers the problem `zoneDeletedByUser`: until then nothing is sent or fetched.
    ///
    /// - Throws: `YapDatabaseError`, when the removal could not be written. Nothing is removed then.
    public func answerDeletedZone(zoneName: String, _ answer: DeletedZoneAnswer) async throws {
        if answer == .removeHere {
            try await connection.readWrite { [map, registeredName] transaction in
                let ext = try transaction.ext(registeredName, as: YapDatabaseCloudKit.self)
                try map.removeObjects(inZoneNamed: zoneName, transaction, ext)
            }
        }
        cloudKit.retry()
    }

    /// `answerDeletedZone` for an inline scheduler.
    package func answerDeletedZoneInline(zoneName: String, _ answer: DeletedZoneAnswer) throws {
        if answer == .removeHere {
            try connection.blocking.readWrite { transaction in
                let ext = try transaction.ext(registeredName, as: YapDatabaseCloudKit.self)
                try map.removeObjects(inZoneNamed: zoneName, transaction, ext)
            }
        }
        cloudKit.retry()
    }
}
