import CloudStore
import CloudWire
import Seams

/// A push that waits for a device.
public struct CourierPush: Hashable, Sendable {
    /// The name by which the device says that it has got it.
    public let notificationID: String
    /// The notification as JSON.
    public let payload: [UInt8]
}

extension CloudService {
    /// Push tasks that one step goes through.
    private static let tasksMax = 64
    /// Pushes after which a step ends.
    private static let pushesMax = 2_000
    /// Milliseconds that a device may have been silent before its asking is written down.
    private static let seenMilliseconds: Int64 = 86_400_000

    /// Lets `listener` know the tokens of the devices for which pushes wait, when they are on disk. It is called on the
    /// thread that wrote them, and must not wait.
    public func setPushListener(_ listener: (@Sendable (_ apnsTokens: [String]) -> Void)?) {
        pushes.withLock { $0.listener = listener }
    }

    /// True when there may be changes that nobody was told of.
    var pushTasksMayWait: Bool { pushes.withLock { $0.tasksMayWait } }

    /// Makes pushes of the changes that nobody was told of yet: one bounded step, in a transaction of its own.
    /// True when there may be more.
    ///
    /// `CloudServiceThread` does it by itself, also at its start, for what was left before. Whoever calls `respond` or
    /// `commitGroup` calls this too.
    ///
    /// - Throws: `CloudStoreError`; then the changes wait for the next step.
    @discardableResult public func preparePushes() throws -> Bool {
        guard pushTasksMayWait else { return false }
        do {
            if try isWorthAStep() { announce(try store.write { try self.pushStep($0) }) }
        } catch {
            pushes.withLock { $0.tasksMayWait = true }
            throw error
        }
        return pushTasksMayWait
    }

    /// At the first look there is often nothing: a read finds that out without the writer. Later looks have a reason.
    private func isWorthAStep() throws -> Bool {
        let isFirst = pushes.withLock { state in
            defer { state.hasLooked = true }
            return !state.hasLooked
        }
        guard isFirst, try store.read({ try $0.pushTasks(after: nil, tasksMax: 1).rows.isEmpty }) else {
            return true
        }
        pushes.withLock { $0.tasksMayWait = false }
        return false
    }

    /// The step inside a transaction; returns whom to tell when it is on disk.
    func pushStep(_ writer: any CloudStoreWriter) throws -> [String] {
        let cursor = pushes.withLock { state in
            // Before looking: who writes a task after this transaction sets it again.
            state.tasksMayWait = false
            return state.cursor
        }
        let page = try writer.pushTasks(after: cursor, tasksMax: Self.tasksMax)
        var wanted = StoreLoad()
        wanted.subscriptionsIn = Set(page.rows.map(\.zone.database)).sorted()
        var loaded = try writer.load(wanted)
        wanted = StoreLoad()
        wanted.devicesOf = Set(loaded.subscriptions.values.joined().map(\.key.user)).sorted()
        loaded.merge(try writer.load(wanted))
        let decider = PushDecider(
            subscriptions: loaded.subscriptions, devices: loaded.devices,
            nowMilliseconds: clock.nowMilliseconds(), random: random)
        let decision = decider.decide(page.rows, pushesMax: Self.pushesMax)
        try writer.apply(decision.changes)
        let isCutShort = page.moreComing || decision.isCutShort
        pushes.withLock { state in
            // At the end it goes round: before the cursor there may be others.
            state.cursor = isCutShort ? decision.last : nil
            if isCutShort || cursor != nil { state.tasksMayWait = true }
        }
        return decision.tokens
    }

    func announce(_ tokens: [String]) {
        guard !tokens.isEmpty, let listener = pushes.withLock({ $0.listener }) else { return }
        listener(tokens)
    }

    /// The oldest push that waits for the device; nil when none does. It waits until it is acknowledged.
    ///
    /// - Parameters:
    ///   - apnsToken: the device's secret, which `tokens/create` has given it.
    ///   - notificationID: a push that the device has got, which is deleted first.
    /// - Throws: `WireError`: NOT_FOUND when there is no such token (any more).
    public func takePush(apnsToken: String, acknowledging notificationID: String? = nil) throws
        -> CourierPush?
    {
        let prepared = prepareTake(apnsToken: apnsToken, acknowledging: notificationID)
        return try Self.push(from: answerAlone(prepared.work)).get()
    }

    /// Deletes a push that the device has got. Nothing happens when another has come in its place meanwhile.
    ///
    /// - Throws: `WireError`, as `takePush`.
    public func acknowledgePush(apnsToken: String, notificationID: String) throws {
        _ = try takePush(apnsToken: apnsToken, acknowledging: notificationID)
    }

    /// Looks for a push. Reads on the calling thread, and asks for a write only when something is to be written.
    func prepareTake(apnsToken: String, acknowledging notificationID: String?) -> PreparedRequest {
        var work: ServiceWork
        do {
            let (device, push) = try store.read { try self.waitingPush(apnsToken, $0) }
            let isSilent = device.seenMilliseconds < clock.nowMilliseconds() - Self.seenMilliseconds
            work = .answer(push.map { .message($0) } ?? .nothing)
            if notificationID != nil || isSilent {
                work = .write { try self.take(apnsToken, acknowledging: notificationID, $0) }
            }
        } catch {
            work = .answer(.error(ServiceFailure.wireError(error)))
        }
        return PreparedRequest(work: work, bytes: 0, wantsExtras: false)
    }

    static func push(from answer: ServiceAnswer) -> Result<CourierPush?, WireError> {
        switch answer {
        case .nothing: return .success(nil)
        case .error(let error): return .failure(error)
        case .message(let message, _):
            guard let payload = message as? PushPayload, let notificationID = payload.ck.notificationID,
                let bytes = try? payload.json()
            else { return .failure(ServiceError.internalError("the push can't be written")) }
            return .success(CourierPush(notificationID: notificationID, payload: bytes))
        }
    }

    private func take(
        _ apnsToken: String, acknowledging notificationID: String?, _ writer: any CloudStoreWriter
    ) throws -> ServiceAnswer {
        var (device, push) = try waitingPush(apnsToken, writer)
        var changes = StoreChanges()
        var wanted = StoreLoad()
        wanted.pushesOf = [device.key]
        let pushes = try writer.load(wanted).pushes[device.key] ?? []
        changes.removedPushes = pushes.filter { $0.notificationID == notificationID }.map(\.key)
        if device.seenMilliseconds < clock.nowMilliseconds() - Self.seenMilliseconds {
            device.seenMilliseconds = clock.nowMilliseconds()
            changes.devices = [device]
        }
        if !changes.isEmpty {
            try writer.apply(changes)
            push = try waitingPush(apnsToken, writer).push
        }
        return push.map { .message($0) } ?? .nothing
    }

    /// The device of a token, and the oldest push for it whose subscription is still there.
    private func waitingPush(
        _ apnsToken: String, _ reader: any CloudStoreReader
    ) throws -> (device: DeviceRow, push: PushPayload?) {
        var wanted = StoreLoad()
        wanted.deviceTokens = [apnsToken]
        guard let device = try reader.load(wanted).tokenDevices[apnsToken] else {
            throw ServiceError.unknownDeviceToken
        }
        wanted = StoreLoad()
        wanted.pushesOf = [device.key]
        let pushes = try reader.load(wanted).pushes[device.key] ?? []
        guard !pushes.isEmpty else { return (device, nil) }
        wanted = StoreLoad()
        wanted.subscriptionsIn = Set(pushes.map(\.key.database)).sorted()
        let subscriptions = try reader.load(wanted).subscriptions.values.joined()
        for push in pushes {
            guard let row = subscriptions.first(where: { $0.key == push.key.subscription }) else { continue }
            return (device, try payload(of: push, for: row))
        }
        return (device, nil)
    }

    private func payload(of push: PushRow, for row: SubscriptionRow) throws -> PushPayload {
        let subscription = try WireSubscription(json: row.content)
        let scope: DatabaseScope = push.key.database.scope == .publicDatabase ? .public : .private
        let zone = row.zoneName.map { ZoneKey(database: row.key.database, zoneName: $0).zoneID }
        let cause = PushCause(
            kind: zone == nil ? .database : .zone, database: scope, subscriptionID: row.key.subscriptionID,
            zoneID: zone)
        return PushPayload(
            aps: subscription.notificationInfo.map { PushAlert($0) },
            ck: PushCloudPart(
                containerIdentifier: container?.identifier, userRecordName: row.key.user,
                notificationID: push.notificationID, cause: cause))
    }
}
