extension CKSyncEngine {
    /// Why an engine fetches or sends.
    public enum SyncReason: Hashable, Sendable, CustomStringConvertible {
        /// By itself.
        case scheduled
        /// The app asked.
        case manual

        /// The reason's name, for logs.
        public var description: String {
            switch self {
            case .scheduled: "scheduled"
            case .manual: "manual"
            }
        }
    }

    /// What to fetch.
    public struct FetchChangesOptions: Sendable, CustomStringConvertible {
        /// Which zones.
        public enum Scope: Hashable, Sendable, CustomStringConvertible {
            /// All zones.
            case all
            /// All but these.
            case allExcluding([CKRecordZone.ID])
            /// These.
            case zoneIDs([CKRecordZone.ID])

            /// Whether the zone is in the scope.
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

        /// Which zones.
        public var scope: Scope
        /// What the operations belong to.
        public var operationGroup: CKOperationGroup?
        /// The zones that come first.
        public var prioritizedZoneIDs: [CKRecordZone.ID] = []

        /// Makes options for the zones of `scope`.
        public init(scope: Scope = .all, operationGroup: CKOperationGroup? = nil) {
            self.scope = scope
            self.operationGroup = operationGroup
        }

        /// The scope, for logs.
        public var description: String { "FetchChangesOptions(scope: \(scope))" }
    }

    /// What to send.
    public struct SendChangesOptions: Sendable, CustomStringConvertible {
        /// Which records.
        public enum Scope: Hashable, Sendable, CustomStringConvertible {
            /// All.
            case all
            /// Those of all zones but these.
            case allExcluding([CKRecordZone.ID])
            /// Those of these zones.
            case zoneIDs([CKRecordZone.ID])
            /// These.
            case recordIDs([CKRecord.ID])

            /// Whether the record is in the scope.
            public func contains(_ recordID: CKRecord.ID) -> Bool {
                switch self {
                case .all: true
                case .allExcluding(let zoneIDs): !zoneIDs.contains(recordID.zoneID)
                case .zoneIDs(let zoneIDs): zoneIDs.contains(recordID.zoneID)
                case .recordIDs(let recordIDs): recordIDs.contains(recordID)
                }
            }

            /// Whether the record of the change is in the scope.
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

        /// Which records.
        public var scope: Scope
        /// What the operations belong to.
        public var operationGroup: CKOperationGroup?

        /// Makes options for the records of `scope`.
        public init(scope: Scope = .all, operationGroup: CKOperationGroup? = nil) {
            self.scope = scope
            self.operationGroup = operationGroup
        }

        /// The scope, for logs.
        public var description: String { "SendChangesOptions(scope: \(scope))" }
    }

    /// Why and what an engine fetches.
    public struct FetchChangesContext: Sendable, CustomStringConvertible {
        /// Why.
        public let reason: SyncReason
        /// What.
        public let options: FetchChangesOptions

        /// Reason and options, for logs.
        public var description: String { "FetchChangesContext(reason: \(reason), options: \(options))" }
    }

    /// Why and what an engine sends.
    public struct SendChangesContext: Sendable, CustomStringConvertible {
        /// Why.
        public let reason: SyncReason
        /// What.
        public let options: SendChangesOptions

        /// Reason and options, for logs.
        public var description: String { "SendChangesContext(reason: \(reason), options: \(options))" }
    }
}
