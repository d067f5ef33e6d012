public import CloudKit
package import CloudWire
import System

/// A server that takes no requests for a while.
struct Throttling: Sendable {
    var untilMilliseconds: Int64 = 0
    var code = CKError.Code.requestRateLimited

    func refusal(at now: Int64) -> WireError? {
        guard now < untilMilliseconds else { return nil }
        return WireError(ordered: code, retryAfterSeconds: Double(untilMilliseconds - now) / 1000)
    }
}

extension TestCloud {
    // MARK: Errors

    /// Lets the next requests of a kind fail, before the service sees them.
    /// - Parameters:
    ///   - kind: which requests; nil: whatever is asked for.
    ///   - code: what the device gets.
    ///   - retryAfterSeconds: what the error says about when to try again.
    ///   - after: how many go through before.
    ///   - times: how many requests fail.
    ///   - device: whose requests; nil: everybody's.
    public func fail(
        _ kind: RequestKind? = nil, with code: CKError.Code, retryAfterSeconds: Double? = nil, after: Int = 0,
        times: Int = 1,
        on device: TestDevice? = nil
    ) {
        let error = WireError(ordered: code, retryAfterSeconds: retryAfterSeconds)
        order(.fail(error), kind, after: after, times: times, on: device)
    }

    /// Lets one record of the next requests of a kind fail. In a zone that is saved all or none, the other records of
    /// the request fail with `batchRequestFailed`.
    /// - Parameters:
    ///   - kind: `modifyRecords`, `fetchRecords`, `queryRecords` or `fetchRecordZoneChanges`.
    ///   - recordID: the record.
    ///   - code: what the device gets for it.
    ///   - retryAfterSeconds: what the error says about when to try again.
    ///   - after: how many go through before.
    ///   - times: in how many requests that have the record.
    ///   - device: whose requests; nil: everybody's.
    public func fail(
        _ kind: RequestKind, of recordID: CKRecord.ID, with code: CKError.Code,
        retryAfterSeconds: Double? = nil, after: Int = 0, times: Int = 1, on device: TestDevice? = nil
    ) {
        let item = TestItem.record(zoneName: recordID.zoneID.zoneName, recordName: recordID.recordName)
        let error = WireError(ordered: code, retryAfterSeconds: retryAfterSeconds)
        order(.fail(error), kind, item, after: after, times: times, on: device)
    }

    /// Lets one zone of the next requests of a kind fail, and no other zone of them.
    /// - Parameters:
    ///   - kind: `fetchRecordZoneChanges`, `modifyRecordZones` or `fetchRecordZones`.
    ///   - zoneID: the zone.
    ///   - code: what the device gets for it.
    ///   - retryAfterSeconds: what the error says about when to try again.
    ///   - after: how many go through before.
    ///   - times: in how many requests that have the zone.
    ///   - device: whose requests; nil: everybody's.
    public func fail(
        _ kind: RequestKind, of zoneID: CKRecordZone.ID, with code: CKError.Code,
        retryAfterSeconds: Double? = nil, after: Int = 0, times: Int = 1, on device: TestDevice? = nil
    ) {
        let error = WireError(ordered: code, retryAfterSeconds: retryAfterSeconds)
        order(.fail(error), kind, .zone(zoneName: zoneID.zoneName), after: after, times: times, on: device)
    }

    /// Lets one subscription of the next requests of a kind fail.
    /// - Parameters:
    ///   - kind: `modifySubscriptions` or `fetchSubscriptions`.
    ///   - subscriptionID: the subscription.
    ///   - code: what the device gets for it.
    ///   - retryAfterSeconds: what the error says about when to try again.
    ///   - after: how many go through before.
    ///   - times: in how many requests that have the subscription.
    ///   - device: whose requests; nil: everybody's.
    public func fail(
        _ kind: RequestKind, of subscriptionID: CKSubscription.ID, with code: CKError.Code,
        retryAfterSeconds: Double? = nil, after: Int = 0, times: Int = 1, on device: TestDevice? = nil
    ) {
        let error = WireError(ordered: code, retryAfterSeconds: retryAfterSeconds)
        order(.fail(error), kind, .subscription(subscriptionID), after: after, times: times, on: device)
    }

    /// Lets every request fail until the clock has been moved that far, with the seconds that are left in
    /// `retryAfterSeconds`: a server that is busy, or that has had enough of this app.
    /// - Parameters:
    ///   - seconds: for how long; 0 ends it, but for devices that were told to wait: the framework holds their
    ///     requests back until then.
    ///   - code: `requestRateLimited`, `serviceUnavailable` or `zoneBusy`.
    public func throttle(forSeconds seconds: Double, with code: CKError.Code = .requestRateLimited) {
        let until = clock.nowMilliseconds() + Int64((seconds * 1000).rounded())
        state.withLock { $0.throttling = Throttling(untilMilliseconds: until, code: code) }
    }

    /// Calls `body` when the next request of a kind has left the device and the service hasn't seen it, on the thread
    /// that sends it: for what happens meanwhile, as another edit on the device, or a save on another one.
    /// - Parameters:
    ///   - kind: which requests; nil: whatever is asked for.
    ///   - after: how many go through before.
    ///   - times: for how many requests.
    ///   - device: whose; nil: everybody's.
    ///   - body: is called with nothing locked, and may use the cloud and its devices.
    public func during(
        _ kind: RequestKind? = nil, after: Int = 0, times: Int = 1, on device: TestDevice? = nil,
        _ body: @escaping @Sendable () -> Void
    ) {
        order(.call(body), kind, after: after, times: times, on: device)
    }

    // MARK: The network

    /// Loses the next requests of a kind on their way: the device gets `networkFailure`, and nothing was done.
    /// - Parameters:
    ///   - kind: which requests; nil: whatever is asked for.
    ///   - after: how many go through before.
    ///   - times: how many.
    ///   - device: whose; nil: everybody's.
    public func loseRequests(
        _ kind: RequestKind? = nil, after: Int = 0, times: Int = 1, on device: TestDevice? = nil
    ) {
        order(.network(.loseRequest), kind, after: after, times: times, on: device)
    }

    /// Loses the answers to the next requests of a kind: the device gets `networkFailure`, and what it asked was
    /// done.
    /// - Parameters:
    ///   - kind: which requests; nil: whatever is asked for.
    ///   - after: how many go through before.
    ///   - times: how many.
    ///   - device: whose; nil: everybody's.
    public func loseReplies(
        _ kind: RequestKind? = nil, after: Int = 0, times: Int = 1, on device: TestDevice? = nil
    ) {
        order(.network(.loseReply), kind, after: after, times: times, on: device)
    }

    /// Lets the next requests of a kind arrive twice. The device gets the first answer.
    /// - Parameters:
    ///   - kind: which requests; nil: whatever is asked for.
    ///   - after: how many go through before.
    ///   - times: how many.
    ///   - device: whose; nil: everybody's.
    public func repeatRequests(
        _ kind: RequestKind? = nil, after: Int = 0, times: Int = 1, on device: TestDevice? = nil
    ) {
        order(.network(.duplicate), kind, after: after, times: times, on: device)
    }

    /// Takes the network from a device: its requests fail with `CKError.networkUnavailable` and never reach the
    /// service.
    public func disconnect(_ device: TestDevice) {
        state.withLock { _ = $0.disconnectedDevices.insert(device.number) }
        cutWaits { $0.deviceNumber == device.number }
    }

    /// Gives the network back to a device.
    public func connect(_ device: TestDevice) {
        state.withLock { _ = $0.disconnectedDevices.remove(device.number) }
    }

    /// Asked for each request what the network does to it; nil for a network without faults.
    package var networkFault: (@Sendable (WireRequest) -> NetworkFault)? {
        get { state.withLock { $0.networkFault } }
        set {
            // The closure before is released after the lock.
            _ = state.withLock { state in
                defer { state.networkFault = newValue }
                return state.networkFault
            }
        }
    }

    private func order(
        _ effect: ScheduledFaults.Effect, _ kind: RequestKind?, _ item: TestItem? = nil, after: Int,
        times: Int,
        on device: TestDevice?
    ) {
        state.withLock {
            $0.faults.add(
                ScheduledFaults.Order(
                    kind: kind, deviceNumber: device?.number, item: item, effect: effect, skipsLeft: after,
                    timesLeft: times))
        }
    }
}
