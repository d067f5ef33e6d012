public import CloudKit
package import CloudWire
import System

/// A server that rejects all requests until a time.
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

    /// Makes the next requests of a kind fail before they reach the service.
    ///
    /// ```swift
    /// cloud.fail(.modifyRecords, with: .requestRateLimited, retryAfterSeconds: 3)
    /// ```
    ///
    /// - Parameters:
    ///   - kind: the kind of requests; nil for any.
    ///   - code: the code of the error.
    ///   - retryAfterSeconds: the seconds in the error after which to try again; nil for none.
    ///   - after: number of matching requests that pass first.
    ///   - times: number of requests that fail.
    ///   - device: the device; nil for any.
    public func fail(
        _ kind: RequestKind? = nil, with code: CKError.Code, retryAfterSeconds: Double? = nil, after: Int = 0,
        times: Int = 1,
        on device: TestDevice? = nil
    ) {
        let error = WireError(ordered: code, retryAfterSeconds: retryAfterSeconds)
        order(.fail(error), kind, after: after, times: times, on: device)
    }

    /// Makes one record fail in the next requests of a kind. In an atomic zone, the other records of the request fail
    /// with `batchRequestFailed`.
    /// - Parameters:
    ///   - kind: `modifyRecords`, `fetchRecords`, `queryRecords` or `fetchRecordZoneChanges`.
    ///   - recordID: the record.
    ///   - code: the code of its error.
    ///   - retryAfterSeconds: the seconds in the error after which to try again; nil for none.
    ///   - after: number of requests with the record that pass first.
    ///   - times: number of requests with the record that fail.
    ///   - device: the device; nil for any.
    public func fail(
        _ kind: RequestKind, of recordID: CKRecord.ID, with code: CKError.Code,
        retryAfterSeconds: Double? = nil, after: Int = 0, times: Int = 1, on device: TestDevice? = nil
    ) {
        let item = TestItem.record(zoneName: recordID.zoneID.zoneName, recordName: recordID.recordName)
        let error = WireError(ordered: code, retryAfterSeconds: retryAfterSeconds)
        order(.fail(error), kind, item, after: after, times: times, on: device)
    }

    /// Makes one zone fail in the next requests of a kind. Other zones don't fail.
    /// - Parameters:
    ///   - kind: `fetchRecordZoneChanges`, `modifyRecordZones` or `fetchRecordZones`.
    ///   - zoneID: the zone.
    ///   - code: the code of its error.
    ///   - retryAfterSeconds: the seconds in the error after which to try again; nil for none.
    ///   - after: number of requests with the zone that pass first.
    ///   - times: number of requests with the zone that fail.
    ///   - device: the device; nil for any.
    public func fail(
        _ kind: RequestKind, of zoneID: CKRecordZone.ID, with code: CKError.Code,
        retryAfterSeconds: Double? = nil, after: Int = 0, times: Int = 1, on device: TestDevice? = nil
    ) {
        let error = WireError(ordered: code, retryAfterSeconds: retryAfterSeconds)
        order(.fail(error), kind, .zone(zoneName: zoneID.zoneName), after: after, times: times, on: device)
    }

    /// Makes one subscription fail in the next requests of a kind.
    /// - Parameters:
    ///   - kind: `modifySubscriptions` or `fetchSubscriptions`.
    ///   - subscriptionID: the subscription.
    ///   - code: the code of its error.
    ///   - retryAfterSeconds: the seconds in the error after which to try again; nil for none.
    ///   - after: number of requests with the subscription that pass first.
    ///   - times: number of requests with the subscription that fail.
    ///   - device: the device; nil for any.
    public func fail(
        _ kind: RequestKind, of subscriptionID: CKSubscription.ID, with code: CKError.Code,
        retryAfterSeconds: Double? = nil, after: Int = 0, times: Int = 1, on device: TestDevice? = nil
    ) {
        let error = WireError(ordered: code, retryAfterSeconds: retryAfterSeconds)
        order(.fail(error), kind, .subscription(subscriptionID), after: after, times: times, on: device)
    }

    /// Makes all requests fail until `clock` has moved by `seconds`: a server that is busy, or that limits
    /// the app's rate. The errors have the remaining seconds in `retryAfterSeconds`.
    /// - Parameters:
    ///   - seconds: the duration; 0 ends the throttling. The framework still delays requests that the server
    ///     has throttled before.
    ///   - code: `requestRateLimited`, `serviceUnavailable` or `zoneBusy`.
    public func throttle(forSeconds seconds: Double, with code: CKError.Code = .requestRateLimited) {
        let until = clock.nowMilliseconds() + Int64((seconds * 1000).rounded())
        state.withLock { $0.throttling = Throttling(untilMilliseconds: until, code: code) }
    }

    /// Calls `body` while the next request of a kind is in flight: after the device has sent it, before the
    /// service receives it. Use it for concurrent events, such as an edit on the device or a save on another
    /// one.
    /// - Parameters:
    ///   - kind: the kind of requests; nil for any.
    ///   - after: number of matching requests that pass first.
    ///   - times: number of requests.
    ///   - device: the device; nil for any.
    ///   - body: called on the thread that sends the request, without locks. It may use the cloud and its
    ///     devices.
    public func during(
        _ kind: RequestKind? = nil, after: Int = 0, times: Int = 1, on device: TestDevice? = nil,
        _ body: @escaping @Sendable () -> Void
    ) {
        order(.call(body), kind, after: after, times: times, on: device)
    }

    // MARK: The network

    /// Loses the next requests of a kind before they reach the service. The device gets `networkFailure`.
    /// - Parameters:
    ///   - kind: the kind of requests; nil for any.
    ///   - after: number of matching requests that pass first.
    ///   - times: number of requests that are lost.
    ///   - device: the device; nil for any.
    public func loseRequests(
        _ kind: RequestKind? = nil, after: Int = 0, times: Int = 1, on device: TestDevice? = nil
    ) {
        order(.network(.loseRequest), kind, after: after, times: times, on: device)
    }

    /// Loses the responses to the next requests of a kind. The service executes the requests, and the device gets
    /// `networkFailure`.
    /// - Parameters:
    ///   - kind: the kind of requests; nil for any.
    ///   - after: number of matching requests that pass first.
    ///   - times: number of responses that are lost.
    ///   - device: the device; nil for any.
    public func loseReplies(
        _ kind: RequestKind? = nil, after: Int = 0, times: Int = 1, on device: TestDevice? = nil
    ) {
        order(.network(.loseReply), kind, after: after, times: times, on: device)
    }

    /// Delivers the next requests of a kind twice. The device gets the first response.
    /// - Parameters:
    ///   - kind: the kind of requests; nil for any.
    ///   - after: number of matching requests that pass first.
    ///   - times: number of requests that are repeated.
    ///   - device: the device; nil for any.
    public func repeatRequests(
        _ kind: RequestKind? = nil, after: Int = 0, times: Int = 1, on device: TestDevice? = nil
    ) {
        order(.network(.duplicate), kind, after: after, times: times, on: device)
    }

    /// Disconnects a device from the network. Its requests fail with `CKError.networkUnavailable`, and don't reach the
    /// service.
    public func disconnect(_ device: TestDevice) {
        state.withLock { _ = $0.disconnectedDevices.insert(device.number) }
        cutWaits { $0.deviceNumber == device.number }
    }

    /// Connects a device to the network again.
    public func connect(_ device: TestDevice) {
        state.withLock { _ = $0.disconnectedDevices.remove(device.number) }
    }

    /// Returns the network's fault for each request; nil for a network without faults.
    package var networkFault: (@Sendable (WireRequest) -> NetworkFault)? {
        get { state.withLock { $0.networkFault } }
        set {
            // The previous closure is released after the lock.
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
