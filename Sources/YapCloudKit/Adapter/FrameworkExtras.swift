internal import CloudKit
internal import CloudWire

// Features of this package's CloudKit that Apple's framework has no public API for. The rest of this module uses
// Apple's API only, so only this file differs on Apple's framework: its second half is compiled with
// PUBLIC_CLOUDKIT_ONLY.

/// An event while listening to a cloud database.
enum ListeningEvent {
    /// Listening has begun. If `wasForgotten`, the server no longer knew the device.
    case listening(wasForgotten: Bool)
    /// Another device changed something.
    case change
    /// Listening was interrupted until `listening` comes again.
    case interrupted(CKError)
    /// The server ended a wait in which nothing happened.
    case waitEnded
}

#if !PUBLIC_CLOUDKIT_ONLY
    extension CKDatabase {
        /// The signed-in user, as far as it is known without a request.
        var signedInUserRecordName: String? { knownUserRecordName }

        /// Calls `handler` with events about other devices' changes in this database.
        /// - Returns: A closure that ends the observation.
        func observeChanges(_ handler: @escaping @Sendable (ListeningEvent) -> Void) -> @Sendable () -> Void {
            observeNotifications { event in
                switch event {
                case .listening(let wasForgotten): handler(.listening(wasForgotten: wasForgotten))
                case .interrupted(let error): handler(.interrupted(error))
                case .notification: handler(.change)
                case .waitEnded: handler(.waitEnded)
                }
            }
        }

        /// Returns true if the notification is about this database.
        func isConcerned(by notification: CKNotification) -> Bool { isMeant(by: notification) }
    }

    extension CKRecord {
        /// The fields' part of the zone's checksum, or nil for a record that wasn't fetched with the zone's changes.
        var fetchedContent: UInt64? { withState { $0.contentChecksum } }
    }

    extension CKFetchRecordZoneChangesOperation {
        /// Requests each record's part of the zone's checksum, and calls `handler` with the checksum before the zone's
        /// end.
        func countRecords(_ handler: @escaping @Sendable (ZoneChecksum) -> Void) {
            zoneChecksumBlock = { handler($1) }
        }

        /// Calls `handler` with the version of the server's schema before the zone's end.
        func observeSchemaVersion(_ handler: @escaping @Sendable (String) -> Void) {
            schemaVersionBlock = handler
        }

        /// Lets `rule` decide how each file of the records is handled.
        func handleFiles(_ rule: @escaping FileHandlingRule) {
            assetHandling = { AssetHandling(rule($0, $1, $2, $3)) }
        }
    }

    extension CKFetchRecordsOperation {
        /// Lets `rule` decide how each file of the records is handled.
        func handleFiles(_ rule: @escaping FileHandlingRule) {
            assetHandling = { AssetHandling(rule($0, $1, $2, $3)) }
        }
    }

    extension AssetHandling {
        fileprivate init(_ handling: FileHandling) {
            self =
                switch handling {
                case .required: .required
                case .optional: .optional
                case .left: .left
                }
        }
    }

    /// A file that isn't on this device, as the value of a field that has it on the server.
    enum FileOnServer {
        /// Returns the value, or nil if the framework can't name a file by its checksum.
        static func asset(_ file: CloudFile, of recordID: CKRecord.ID, _ key: String) -> CKAsset? {
            CKAsset(
                serverChecksum: file.serverChecksum, sizeBytes: file.sizeBytes, ofRecord: recordID, key: key)
        }
    }

    extension CKAsset {
        /// Checksum and size as the server reports them, or nil for an asset that wasn't fetched.
        var knownFile: CloudFile? {
            serverFile.flatMap { CloudFile(serverChecksum: $0.checksum, sizeBytes: $0.sizeBytes) }
        }
    }

    extension CKDatabaseOperation {
        /// Sets the user of the operation. The operation fails if another user is signed in. Nil takes the
        /// signed-in user.
        func run(as userRecordName: String?) {
            self.userRecordName = userRecordName
        }

        /// Names the operation's writes by the seed of their zone and by their content. If a request is repeated
        /// because its response took too long, the server executes it once.
        func nameWrites(seeds: [CKRecordZone.ID: SyncIdempotencySeed]) {
            writeSeeds = seeds.mapValues { IdempotencySeed(series: $0.series, seed: $0.seed) }
        }
    }
#else
    extension CKDatabase {
        /// Apple's framework doesn't report the user without a request. The app calls `CKContainer.userRecordID()` at
        /// the start and after each `CKAccountChanged`, and passes the user to `useAccount(of:)`.
        var signedInUserRecordName: String? { nil }

        /// The system delivers notifications to the app, and the app passes them to `handle(_:)`.
        func observeChanges(_ handler: @escaping @Sendable (ListeningEvent) -> Void) -> @Sendable () -> Void {
            {}
        }

        /// A database doesn't name its container. If two containers have databases with the same scope, both are
        /// fetched.
        func isConcerned(by notification: CKNotification) -> Bool {
            (notification as? CKDatabaseNotification)?.databaseScope == databaseScope
        }
    }

    extension CKRecord {
        /// Apple's servers send no checksum.
        var fetchedContent: UInt64? { nil }
    }

    extension CKFetchRecordZoneChangesOperation {
        /// Apple's servers send no checksum.
        func countRecords(_ handler: @escaping @Sendable (ZoneChecksum) -> Void) {}

        /// Apple's servers send no version.
        func observeSchemaVersion(_ handler: @escaping @Sendable (String) -> Void) {}

        /// Apple's framework fetches all files.
        func handleFiles(_ rule: @escaping FileHandlingRule) {}
    }

    extension CKFetchRecordsOperation {
        /// Apple's framework fetches all files.
        func handleFiles(_ rule: @escaping FileHandlingRule) {}
    }

    enum FileOnServer {
        /// Apple's framework can only send files.
        static func asset(_ file: CloudFile, of recordID: CKRecord.ID, _ key: String) -> CKAsset? { nil }
    }

    extension CKAsset {
        /// Apple's framework reports no checksum.
        var knownFile: CloudFile? { nil }
    }

    extension CKDatabaseOperation {
        /// The framework uses the signed-in user.
        func run(as userRecordName: String?) {}

        /// The framework doesn't name writes.
        func nameWrites(seeds: [CKRecordZone.ID: SyncIdempotencySeed]) {}
    }
#endif
