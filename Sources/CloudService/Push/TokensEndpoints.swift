import CloudStore
import CloudWire
import System

/// The endpoints for the tokens of devices. A token is a secret with which a device fetches pushes without
/// signing in.
package struct TokensEndpoints: Sendable {
    let store: any CloudStore
    let limits: ServiceLimits
    let clock: any TimeSource
    let random: any RandomSource

    func create(_ body: [UInt8], _ caller: ServiceCaller, _ courier: CourierAddress) throws
        -> ServiceWork
    {
        guard let user = caller.user?.userRecordName else { throw ServiceError.authenticationRequired }
        let request = try TokensCreateRequest(request: body)
        let name = ServiceCaller.checked(request.clientID) ?? caller.device?.device
        return .write { writer in
            let devices = try self.devices(of: user, writer)
            var changes = StoreChanges()
            var row = devices.first {
                $0.key.device == name && $0.environment == request.apnsEnvironment.rawValue
            }
            if row == nil {
                let token = self.newDeviceToken()
                let key = DeviceKey(user: user, device: name ?? token)
                row = DeviceRow(
                    key: key, token: token, environment: request.apnsEnvironment.rawValue, seenMilliseconds: 0
                )
                changes.removedDevices = self.devicesToForget(devices.filter { $0.key != key })
            }
            guard var row else { throw ServiceError.unknownDeviceToken }
            row.seenMilliseconds = self.clock.nowMilliseconds()
            changes.devices = [row]
            try writer.apply(changes)
            return .message(courier.response(row, request.apnsEnvironment))
        }
    }

    func register(_ body: [UInt8], _ caller: ServiceCaller, _ courier: CourierAddress) throws
        -> ServiceWork
    {
        guard let user = caller.user?.userRecordName else { throw ServiceError.authenticationRequired }
        let request = try TokensRegisterRequest(request: body)
        let name = ServiceCaller.checked(request.clientID) ?? caller.device?.device
        return .write { writer in
            var wanted = StoreLoad()
            wanted.deviceTokens = [request.apnsToken]
            let found = try writer.load(wanted).tokenDevices[request.apnsToken]
            // Only the token's user may register it. Another user's token gets the same error as a missing one.
            guard let found, found.key.user == user else { throw ServiceError.unknownDeviceToken }
            let key = DeviceKey(user: user, device: name ?? found.key.device)
            let row = DeviceRow(
                key: key, token: found.token, environment: request.apnsEnvironment.rawValue,
                seenMilliseconds: self.clock.nowMilliseconds())
            var changes = StoreChanges()
            if key != found.key {
                // The device was renamed. Its pending pushes are moved.
                wanted = StoreLoad()
                wanted.pushesOf = [found.key]
                let pushes = try writer.load(wanted).pushes[found.key] ?? []
                changes.removedDevices = [found.key]
                changes.pushes = pushes.map { $0.moved(to: key) }
            }
            changes.devices = [row]
            try writer.apply(changes)
            return .message(courier.response(row, request.apnsEnvironment))
        }
    }

    /// Deletes the tokens of a user's devices, and their pending pushes. A token is valid without a session,
    /// so it would otherwise outlive the session that created it. A device that is still signed in creates
    /// another token automatically.
    ///
    /// - Returns: the number of deleted tokens.
    /// - Throws: `CloudStoreError`.
    @discardableResult package func forgetDevices(of user: String) throws -> Int {
        try store.write { try self.forgetDevices(of: user, named: nil, $0) }
    }

    /// The same as a request of the service. If a name is given, only the token of that device is deleted.
    func prepareForgetting(devicesOf user: String, named device: String?) -> PreparedRequest {
        let work = ServiceWork.write { writer in
            _ = try self.forgetDevices(of: user, named: device, writer)
            return .nothing
        }
        return PreparedRequest(work: work, bytes: 0, wantsExtras: false, requestID: "")
    }

    private func forgetDevices(
        of user: String, named device: String?, _ writer: any CloudStoreWriter
    ) throws -> Int {
        let devices = try self.devices(of: user, writer).filter { device == nil || $0.key.device == device }
        var changes = StoreChanges()
        changes.removedDevices = devices.map(\.key)
        if !devices.isEmpty { try writer.apply(changes) }
        return devices.count
    }

    private func devices(of user: String, _ reader: any CloudStoreReader) throws -> [DeviceRow] {
        var wanted = StoreLoad()
        wanted.devicesOf = [user]
        return try reader.load(wanted).devices[user] ?? []
    }

    /// Returns the least recently active devices, so that the maximum isn't exceeded by one more.
    private func devicesToForget(_ devices: [DeviceRow]) -> [DeviceKey] {
        devices.sorted { ($0.seenMilliseconds, $0.key) < ($1.seenMilliseconds, $1.key) }
            .prefix(max(0, devices.count + 1 - limits.devicesMax)).map(\.key)
    }

    /// 256 random bits.
    private func newDeviceToken() -> String {
        (0..<4).map { _ in
            let digits = String(random.next(), radix: 16)
            return String(repeating: "0", count: 16 - digits.count) + digits
        }.joined()
    }
}

extension PushRow {
    /// Returns the push for a device that was renamed.
    fileprivate func moved(to device: DeviceKey) -> PushRow {
        PushRow(
            key: PushKey(device: device, database: key.database, subscriptionID: key.subscriptionID),
            notificationID: notificationID, atMilliseconds: atMilliseconds, number: number, count: count,
            content: content)
    }
}

/// The address that a device polls for pushes.
struct CourierAddress: Sendable {
    let prefix: String

    func response(_ device: DeviceRow, _ environment: PushEnvironment) -> TokensResponse {
        TokensResponse(
            apnsEnvironment: environment, apnsToken: device.token, webcourierURL: prefix + device.token)
    }
}

extension ServiceRoute {
    /// Returns the courier's address under `base`, or under the address of the request. The token is its last
    /// component.
    func courier(of request: WireRequest, base: String?) -> CourierAddress {
        let base = base ?? request.serverURL ?? request.header("Host").map { "http://\($0)" } ?? ""
        return CourierAddress(
            prefix: "\(base)/device/1/\(PercentEncoding.encoded(container))/\(environment)/courier?token=")
    }
}
