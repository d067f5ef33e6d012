import CloudStore
import CloudWire
import System

/// A pending push of a device.
public struct CourierPush: Hashable, Sendable {
    /// The ID with which the device acknowledges it.
    public let notificationID: String
    /// The notification as JSON.
    public let payload: [UInt8]
    /// Its position among the device's pushes.
    let number: Int64
}

/// The way in which a device receives its pushes.
public enum PushTaking: Hashable, Sendable {
    /// One at a time, one for each subscription, oldest first: for our own clients, which acknowledge each.
    case each
    /// The newest only, as Apple's service does. The others are in the collection.
    case newest
}

/// Delivers pending pushes to devices.
struct DevicePushes: Sendable {
    /// Milliseconds after which a device's activity is stored again.
    private static let seenMilliseconds: Int64 = 86_400_000

    let store: any CloudStore
    let clock: any TimeSource
    let limits: ServiceLimits
    let settings: ServiceSettings
    let container: CloudService.Container?
    let rates: CallerRates
    let authentication: Authentication

    /// Returns the pending push, after pending writes are durable.
    func take(
        apnsToken: String, acknowledging acknowledgement: Acknowledgement?, taking: PushTaking
    ) throws -> CourierPush? {
        let prepared = prepareTake(apnsToken: apnsToken, acknowledging: acknowledgement, taking: taking)
        return try Self.push(from: prepared.work.answerAlone(in: store)).get()
    }

    /// The pushes that a device has received.
    enum Acknowledgement: Sendable {
        /// The push with this notification ID.
        case one(String)
        /// All pushes up to this number.
        case through(Int64)

        func covers(_ push: PushRow) -> Bool {
            switch self {
            case .one(let notificationID): push.notificationID == notificationID
            case .through(let number): push.number <= number
            }
        }
    }

    /// Finds a pending push. Reads on the calling thread, and returns a write only if there is something to
    /// write.
    func prepareTake(
        apnsToken: String, acknowledging acknowledgement: Acknowledgement?, taking: PushTaking,
        asker: String? = nil
    ) -> PreparedRequest {
        var work: ServiceWork
        do {
            let (device, push) = try waitingPush(apnsToken, taking, asker: asker)
            let isSilent = device.seenMilliseconds < clock.nowMilliseconds() - Self.seenMilliseconds
            work = .answer(push.map { .push($0) } ?? .nothing)
            if acknowledgement != nil || isSilent {
                work = .write { try self.take(apnsToken, acknowledging: acknowledgement, taking, $0) }
            }
        } catch {
            work = .answer(.error(ServiceFailure.wireError(error)))
        }
        return PreparedRequest(work: work, bytes: 0, wantsExtras: false)
    }

    /// Charges the request to the device's user, or to the client's address if the token is unknown.
    private func waitingPush(
        _ apnsToken: String, _ taking: PushTaking, asker: String?
    ) throws -> (device: DeviceRow, push: CourierPush?) {
        do {
            let found = try store.read { try self.waitingPush(apnsToken, taking, $0) }
            if let asker { try rates.charge(found.device.key.user, at: asker, showing: apnsToken) }
            if let container { try authentication.checkEnvironment(found.device.key.user, in: container) }
            return found
        } catch let error as WireError where error == ServiceError.unknownDeviceToken {
            if let asker { try rates.charge(nil, at: asker, showing: apnsToken) }
            throw error
        }
    }

    static func push(from answer: ServiceAnswer) -> Result<CourierPush?, WireError> {
        switch answer {
        case .push(let push): .success(push)
        case .error(let error): .failure(error)
        case .nothing, .message, .readLater: .success(nil)
        }
    }

    private func take(
        _ apnsToken: String, acknowledging acknowledgement: Acknowledgement?, _ taking: PushTaking,
        _ writer: any CloudStoreWriter
    ) throws -> ServiceAnswer {
        var (device, push) = try waitingPush(apnsToken, taking, writer)
        var changes = StoreChanges()
        var wanted = StoreLoad()
        wanted.pushesOf = [device.key]
        let pushes = try writer.load(wanted).pushes[device.key] ?? []
        changes.removedPushes = pushes.filter { acknowledgement?.covers($0) ?? false }.map(\.key)
        if device.seenMilliseconds < clock.nowMilliseconds() - Self.seenMilliseconds {
            device.seenMilliseconds = clock.nowMilliseconds()
            changes.devices = [device]
        }
        if !changes.isEmpty {
            try writer.apply(changes)
            push = try waitingPush(apnsToken, taking, writer).push
        }
        return push.map { .push($0) } ?? .nothing
    }

    /// Returns the device of a token, and its next push whose notification still exists.
    private func waitingPush(
        _ apnsToken: String, _ taking: PushTaking, _ reader: any CloudStoreReader
    ) throws -> (device: DeviceRow, push: CourierPush?) {
        var wanted = StoreLoad()
        wanted.deviceTokens = [apnsToken]
        guard let device = try reader.load(wanted).tokenDevices[apnsToken] else {
            throw ServiceError.unknownDeviceToken
        }
        wanted = StoreLoad()
        wanted.pushesOf = [device.key]
        let pushes = try reader.load(wanted).pushes[device.key] ?? []
        let inOrder = taking == .each ? pushes : pushes.sorted { $0.number > $1.number }
        for push in inOrder {
            guard var payload = try payload(of: push, reader).map(settings.numbered) else { continue }
            // All notifications that the newest one represents, or all of its own subscription up to it.
            let count = taking == .each ? push.count : pushes.reduce(0) { $0 + $1.count }
            if count > 1 { payload.ck.moreCount = count - 1 }
            return (
                device,
                CourierPush(
                    notificationID: push.notificationID,
                    payload: try payload.pruned(bytesMax: limits.pushBytesMax), number: push.number)
            )
        }
        return (device, nil)
    }

    /// Returns the payload of a push, or nil if its notification was removed from the collection. For a changed
    /// zone or database it is returned even then, while the user is subscribed, because devices depend on it.
    private func payload(of push: PushRow, _ reader: any CloudStoreReader) throws -> PushPayload? {
        if let content = push.content { return try PushPayload(json: content) }
        let name = NotificationName(user: push.key.device.user, notificationID: push.notificationID)
        var wanted = StoreLoad()
        wanted.notifications.notifications = [name]
        if let row = try reader.load(wanted).notifications.notifications[name] {
            return try PushPayload(json: row.content)
        }
        let subscriber = SubscriberKey(database: push.key.database, user: push.key.device.user)
        wanted = StoreLoad()
        wanted.notifications.subscriptionsOf = [subscriber]
        let rows = try reader.load(wanted).notifications.subscriptions[subscriber] ?? []
        guard let row = rows.first(where: { $0.key == push.key.subscription }), row.recordType == nil else {
            return nil
        }
        return PushPayload(
            try WireSubscription(json: row.content).notificationInfo, cause: PushCause(row),
            user: row.key.user, notificationID: push.notificationID, container: container?.identifier,
            valuesBytesMax: limits.notificationValuesBytesMax)
    }
}
