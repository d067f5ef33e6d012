import CloudStore
import CloudWire
import System

/// Collects the subscriptions that a write's changes fire.
struct QueryFiring {
    let indexes: [WatchKey: WatchIndex]
    let maker: DeviceKey?
    let nowMilliseconds: Int64
    let limits: ServiceLimits
    /// Remaining bytes of fields that this write may store for subscribers.
    private var fieldsBytesLeft: Int
    private var fired: [FiredChangeRow] = []
    /// Subscriptions with a single firing that have fired.
    private var spent: [QuerySubscription] = []
    private var spentKeys = Set<SubscriptionKey>()

    init(indexes: [WatchKey: WatchIndex], maker: DeviceKey?, nowMilliseconds: Int64, limits: ServiceLimits) {
        self.indexes = indexes
        self.maker = maker
        self.nowMilliseconds = nowMilliseconds
        self.limits = limits
        fieldsBytesLeft = limits.firedFieldsBytesMax
    }

    var isEmpty: Bool { fired.isEmpty }

    func needsOldFields(of changed: ChangedRecord) -> Bool {
        changed.trigger == .delete && indexes[changed.watch]?.watchesDeletions == true
    }

    /// Adds a changed record. `old` is the row with its fields.
    mutating func add(
        _ changed: ChangedRecord, old: StoredRecord, _ readers: inout SubscriberAccess
    ) throws {
        guard let index = indexes[changed.watch], changed.trigger != .delete || index.watchesDeletions else {
            return
        }
        let row = changed.trigger == .delete ? old : changed.row
        // An unreadable record can still be deleted.
        let fields = (try? FieldsBinary.decode(row.fields)) ?? [:]
        var watchers = FiredSubscriptions()
        var told = ToldFields(fields, limits)
        for subscription in index.fired(by: changed.trigger, row, fields: fields)
        where try !spentKeys.contains(subscription.row.key) && readers.mayRead(row, subscription.row.key.user)
        {
            told.add(subscription.fieldNames, of: subscription.row.key.user)
            guard subscription.firesOnce else {
                watchers.numbers.append(subscription.row.number)
                continue
            }
            let key = subscription.row.key
            spent.append(subscription)
            spentKeys.insert(key)
            watchers.once.append(
                FiredSubscriptions.Once(
                    user: key.user, subscriptionID: key.subscriptionID, content: subscription.row.content))
        }
        guard watchers.count > 0, let reason = changed.trigger.reason else { return }
        var kept = FieldsBinary.encode(told.fields)
        if kept.count > fieldsBytesLeft { kept = FieldsBinary.encode([:]) }
        fieldsBytesLeft -= min(kept.count, fieldsBytesLeft)
        fired.append(
            FiredChangeRow(
                record: row.key, recordType: row.recordType, reason: reason, maker: maker,
                atMilliseconds: nowMilliseconds, fields: kept,
                watchers: watchers.bytes))
    }

    /// Adds the changes to write. `watches` are the current rows.
    func finish(
        _ changes: inout StoreChanges, watches: [WatchKey: WatchRow], random: any RandomSource
    ) {
        changes.notifications.firedChanges += fired
        changes.removedSubscriptions += spent.map(\.row.key)
        for (key, count) in Dictionary(grouping: spent, by: \.watch).mapValues(\.count).sorted(by: {
            $0.key < $1.key
        }) {
            guard var row = watches[key] else { continue }
            row.count -= Int64(count)
            row.version = random.next()
            changes.notifications.watches.append(row)
        }
    }
}

/// The fields of a changed record that are stored for its notifications: a maximum of bytes for each user, over all
/// subscriptions.
private struct ToldFields {
    private(set) var fields: [String: Field] = [:]
    private let all: [String: Field]
    private let limits: ServiceLimits
    private var bytesLeft: [String: Int] = [:]

    init(_ all: [String: Field], _ limits: ServiceLimits) {
        self.all = all
        self.limits = limits
    }

    mutating func add(_ names: Set<String>, of user: String) {
        var left = bytesLeft[user] ?? limits.notificationValuesBytesMax
        for name in names.sorted() where fields[name] == nil {
            guard let field = all[name]?.told(bytesMax: limits.notificationFieldBytesMax) else { continue }
            let bytes = FieldsBinary.encode([name: field]).count
            guard bytes <= left else { continue }
            left -= bytes
            fields[name] = field
        }
        bytesLeft[user] = left
    }
}

extension QuerySubscription {
    /// The watched type.
    var watch: WatchKey { WatchKey(database: row.key.database, recordType: row.recordType ?? "") }
}
