extension CKSyncEngine {
    /// The reason of a fetch or of a sending.
    public enum SyncReason: Hashable, Sendable, CustomStringConvertible {
        /// By itself.
        case scheduled
        /// The app has requested it.
        case manual

        /// The reason's name, for logs.
        public var description: String {
            switch self {
            case .scheduled: "scheduled"
            case .manual: "manual"
            }
        }
    }

    /// Options of a fetch.
    public struct FetchChangesOptions: Sendable, CustomStringConvertible {
        /// The zones.
        public enum Scope: Hashable, Sendable, CustomStringConvertible {
            /// All zones.
            case all
            /// All but these.
            case allExcluding([CKRecordZone.ID])
            /// These.
            case zoneIDs([CKRecordZone.ID])

            /// Returns true if the zone is in the scope.
            public func contains(_ zoneID: CKRecordZone.ID) -> Bool {
                switch self {
                case .all: true
                case .allExcluding(let zoneIDs): !zoneIDs.contains(zoneID)
                case .zoneIDs(let zoneIDs): zoneIDs.contains(zoneID)
                }
            }

            /// The scope, for logs.
            public var description: String {
                switch self {
                case .all: "all"
                case .allExcluding(let zoneIDs): "allExcluding(\(zoneIDs))"
                case .zoneIDs(let zoneIDs): "zoneIDs(\(zoneIDs))"
                }
            }
        }

        /// The zones.
        public var scope: Scope
        /// The group of the operations.
        public var operationGroup: CKOperationGroup?
        /// The zones to fetch first.
        public var prioritizedZoneIDs: [CKRecordZone.ID] = []

        /// Makes options for the zones of `scope`.
        public init(scope: Scope = .all, operationGroup: CKOperationGroup? = nil) {
            self.scope = scope
            self.operationGroup = operationGroup
        }

        /// The scope, for logs.
        public var description: String { "FetchChangesOptions(scope: \(scope))" }
    }

    /// Options of a sending.
    public struct SendChangesOptions: Sendable, CustomStringConvertible {
        /// The records.
        public enum Scope: Hashable, Sendable, CustomStringConvertible {
            /// All.
            case all
            /// Those of all zones but these.
            case allExcluding([CKRecordZone.ID])
            /// Those of these zones.
            case zoneIDs([CKRecordZone.ID])
            /// These.
            case recordIDs([CKRecord.ID])

            /// Returns true if the record is in the scope.
            public func contains(_ recordID: CKRecord.ID) -> Bool {
                switch self {
                case .all: true
                case .allExcluding(let zoneIDs): !zoneIDs.contains(recordID.zoneID)
                case .zoneIDs(let zoneIDs): zoneIDs.contains(recordID.zoneID)
                case .recordIDs(let recordIDs): recordIDs.contains(recordID)
                }
            }

            /// Returns true if the record of the change is in the scope.
            public func contains(_ change: PendingRecordZoneChange) -> Bool { contains(change.recordID) }

            /// The scope, for logs.
            public var description: String {
                switch self {
                case .all: "all"
                case .allExcluding(let zoneIDs): "allExcluding(\(zoneIDs))"
                case .zoneIDs(let zoneIDs): "zoneIDs(\(zoneIDs))"
                case .recordIDs(let recordIDs): "recordIDs(\(recordIDs))"
                }
            }
        }

        /// The records.
        public var scope: Scope
        /// The group of the operations.
        public var operationGroup: CKOperationGroup?

        /// Makes options for the records of `scope`.
        public init(scope: Scope = .all, operationGroup: CKOperationGroup? = nil) {
            self.scope = scope
            self.operationGroup = operationGroup
        }

        /// The scope, for logs.
        public var description: String { "SendChangesOptions(scope: \(scope))" }
    }

    /// The reason and the options of a fetch.
    public struct FetchChangesContext: Sendable, CustomStringConvertible {
        /// The reason.
        public let reason: SyncReason
        /// The options.
        public let options: FetchChangesOptions

        /// Reason and options, for logs.
        public var description: String { "FetchChangesContext(reason: \(reason), options: \(options))" }
    }

    /// The reason and the options of a sending.
    public struct SendChangesContext: Sendable, CustomStringConvertible {
        /// The reason.
        public let reason: SyncReason
        /// The options.
        public let options: SendChangesOptions

        /// Reason and options, for logs.
        public var description: String { "SendChangesContext(reason: \(reason), options: \(options))" }
    }
}
