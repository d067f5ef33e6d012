internal import CloudKit
internal import CloudWire

// What the sync uses of this package's CloudKit that Apple's framework has no public form for. Everything else in this
// module is Apple's API, so this file is all that differs where Apple's framework lies under it: the second half, which
// is compiled with PUBLIC_CLOUDKIT_ONLY.

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
        /// Who is signed in, as far as that is known without asking the server.
        var signedInUserRecordName: String? { knownUserRecordName }

        /// Calls `handler` with what is heard of other devices' changes in this database.
        /// - Returns: what ends that.
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

        /// Whether the notification is about this database.
        func isTold(by notification: CKNotification) -> Bool { isMeant(by: notification) }
    }

    extension CKRecord {
        /// What the fields add to the zone's checksum; nil for a record that wasn't fetched with the zone's changes.
        var fetchedContent: UInt64? { withState { $0.contentChecksum } }
    }

    extension CKFetchRecordZoneChangesOperation {
        /// Asks for what each record adds to the zone's checksum, and calls `handler` with that before the zone's end.
        func countRecords(_ handler: @escaping @Sendable (ZoneChecksum) -> Void) {
            zoneChecksumBlock = { handler($1) }
        }

        /// Calls `handler` with the version of the server's schema before the zone's end.
        func observeSchemaVersion(_ handler: @escaping @Sendable (String) -> Void) {
            schemaVersionBlock = handler
        }

        /// Lets `rule` decide what is done with each file of the records.
        func handleFiles(_ rule: @escaping FileHandlingRule) {
            assetHandling = { AssetHandling(rule($0, $1, $2, $3)) }
        }
    }

    extension CKFetchRecordsOperation {
        /// Lets `rule` decide what is done with each file of the records.
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

    /// A file that isn't on this device as the value of a field that has it on the server.
    enum FileOnServer {
        /// The value, or nil if the framework can't name a file by its checksum.
        static func asset(_ file: CloudFile, of recordID: CKRecord.ID, _ key: String) -> CKAsset? {
            CKAsset(
                serverChecksum: file.serverChecksum, sizeBytes: file.sizeBytes, ofRecord: recordID, key: key)
        }
    }

    extension CKAsset {
        /// Checksum and size as the server reports them; nil for an asset that wasn't fetched.
        var knownFile: CloudFile? {
            serverFile.flatMap { CloudFile(serverChecksum: $0.checksum, sizeBytes: $0.sizeBytes) }
        }
    }

    extension CKDatabaseOperation {
        /// Whose operation it is: it fails when another user is signed in. Nil takes whoever is.
        func run(as userRecordName: String?) {
            self.userRecordName = userRecordName
        }

        /// Names the operation's writes by their zone's seed and by what they say: one that was on its way longer than
        /// it was waited for, and was sent again, is done once.
        func nameWrites(seeds: [CKRecordZone.ID: SyncWriteSeed]) {
            writeSeeds = seeds.mapValues { IdempotencySeed(series: $0.series, seed: $0.seed) }
        }
    }
#else
    extension CKDatabase {
        /// Nobody says without being asked. The app asks `CKContainer.userRecordID()` at the start and whenever
        /// `CKAccountChanged` is posted, and names the user with `useAccount(of:)`.
        var signedInUserRecordName: String? { nil }

        /// The system gives the pushes to the app, and the app gives them to `handle(_:)`.
        func observeChanges(_ handler: @escaping @Sendable (ListeningEvent) -> Void) -> @Sendable () -> Void {
            {}
        }

        /// A database doesn't name its container: of two containers' databases with the same scope both are fetched.
        func isTold(by notification: CKNotification) -> Bool {
            (notification as? CKDatabaseNotification)?.databaseScope == databaseScope
        }
    }

    extension CKRecord {
        /// Apple's servers tell no checksum.
        var fetchedContent: UInt64? { nil }
    }

    extension CKFetchRecordZoneChangesOperation {
        /// Apple's servers tell no checksum.
        func countRecords(_ handler: @escaping @Sendable (ZoneChecksum) -> Void) {}

        /// Apple's servers tell no version.
        func observeSchemaVersion(_ handler: @escaping @Sendable (String) -> Void) {}

        /// Apple's framework fetches all files.
        func handleFiles(_ rule: @escaping FileHandlingRule) {}
    }

    extension CKFetchRecordsOperation {
        /// Apple's framework fetches all files.
        func handleFiles(_ rule: @escaping FileHandlingRule) {}
    }

    enum FileOnServer {
        /// Apple's framework sends files only.
        static func asset(_ file: CloudFile, of recordID: CKRecord.ID, _ key: String) -> CKAsset? { nil }
    }

    extension CKAsset {
        /// Apple's framework reports no checksum.
        var knownFile: CloudFile? { nil }
    }

    extension CKDatabaseOperation {
        /// The framework asks as whoever is signed in.
        func run(as userRecordName: String?) {}

        /// The framework names none.
        func nameWrites(seeds: [CKRecordZone.ID: SyncWriteSeed]) {}
    }
#endif
