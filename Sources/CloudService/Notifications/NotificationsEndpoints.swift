import CloudStore
import CloudWire
import System

/// The endpoints of a user's collection of notifications. They are our own, since Apple's are not public.
struct NotificationsEndpoints: Sendable {
    /// Maximum names in a push about read notifications. For more, it only says that some were read.
    private static let readNamesMax = 32

    let container: CloudService.Container?
    let limits: ServiceLimits
    let clock: any TimeSource
    let random: any RandomSource
    let pushes: PushDelivery

    func list(_ body: [UInt8], _ caller: ServiceCaller) throws -> ServiceWork {
        guard let user = caller.user?.userRecordName else { throw ServiceError.authenticationRequired }
        let request = try NotificationsListRequest(request: body)
        if let limit = request.resultsLimit, limit <= 0 {
            throw ServiceError.badRequest("resultsLimit must be positive")
        }
        let notificationsMax = Int(min(request.resultsLimit ?? .max, Int64(limits.itemsMax)))
        return .read { reader in
            var wanted = StoreLoad()
            wanted.notifications.feedsOf = [user]
            let feed = try reader.load(wanted).notifications.feeds[user]
            let known = try FeedPosition(
                request.syncToken, scope: .private, subject: .notifications(ownerRecordName: user),
                epoch: feed?.epoch ?? FeedPosition.epochBeforeTheFirst, counter: feed?.counter ?? 0, floor: 0)
            let page = try reader.notificationReader.notifications(
                of: user, after: known.counter, notificationsMax: notificationsMax)
            let last = page.moreComing ? page.rows.last?.key.number : feed?.counter
            // A device isn't notified of its own changes, except of those that other devices have read.
            let rows = page.rows.filter { row in
                (row.maker == nil || row.maker != caller.device?.device)
                    && !(request.unreadOnly == true && row.isRead)
            }
            let wasCut = request.syncToken != nil && known.counter < (feed?.floor ?? 0)
            return .message(
                NotificationsListResponse(
                    notifications: try rows.map { try CollectedNotification($0) },
                    syncToken: known.token(counter: last ?? known.counter), moreComing: page.moreComing,
                    someWereDiscarded: wasCut ? true : nil))
        }
    }

    func read(_ body: [UInt8], _ caller: ServiceCaller) throws -> ServiceWork {
        guard let user = caller.user?.userRecordName else { throw ServiceError.authenticationRequired }
        let request = try NotificationsReadRequest(request: body)
        try limits.check(count: request.notificationIDs.count, caller)
        let names = Set(request.notificationIDs).map { NotificationName(user: user, notificationID: $0) }
            .sorted()
        return .write { writer in
            var wanted = StoreLoad()
            wanted.notifications.feedsOf = [user]
            wanted.notifications.notifications = names
            wanted.devicesOf = [user]
            var loaded = try writer.load(wanted)
            wanted = StoreLoad()
            wanted.pushesOf = (loaded.devices[user] ?? []).map(\.key)
            loaded.merge(try writer.load(wanted))
            var changes = StoreChanges()
            let read = Self.markAsRead(names, of: user, loaded: loaded, &changes)
            if !read.isEmpty {
                self.tell(
                    (loaded.devices[user] ?? []), ofRead: read, by: caller.device, loaded: loaded, &changes)
                try writer.apply(changes)
            }
            return .message(
                NotificationsReadResponse(
                    notifications: request.notificationIDs.map { notificationID in
                        let name = NotificationName(user: user, notificationID: notificationID)
                        return CollectedNotification(
                            notificationID, isThere: loaded.notifications.notifications[name] != nil)
                    }))
        }
    }

    /// Marks unread notifications as read. Each moves to the end of the collection, so that other devices'
    /// tokens include it.
    private static func markAsRead(
        _ names: [NotificationName], of user: String, loaded: StoreLoaded, _ changes: inout StoreChanges
    ) -> [NotificationRow] {
        guard var feed = loaded.notifications.feeds[user] else { return [] }
        var read: [NotificationRow] = []
        for name in names {
            guard var row = loaded.notifications.notifications[name], !row.isRead else { continue }
            changes.notifications.removedNotifications.append(row.key)
            feed.counter += 1
            feed.unreadCount -= 1
            row.key = NotificationKey(user: user, number: feed.counter)
            row.isRead = true
            changes.notifications.notifications.append(row)
            read.append(row)
        }
        changes.notifications.feeds = [feed]
        return read
    }

    /// Notifies the user's other devices by a push of the notifications that were read.
    ///
    /// Pending pushes with these notifications are removed, except those about a zone or a database, since
    /// each device must fetch its changes.
    private func tell(
        _ devices: [DeviceRow], ofRead read: [NotificationRow], by reader: DeviceKey?, loaded: StoreLoaded,
        _ changes: inout StoreChanges
    ) {
        let names = read.map(\.notificationID)
        let gone = Set(read.filter { $0.kind == .query }.map(\.notificationID))
        for device in devices {
            let waiting = loaded.pushes[device.key] ?? []
            changes.removedPushes += waiting.filter { gone.contains($0.notificationID) }.map(\.key)
            guard device.key != reader else { continue }
            let key = PushKey(
                device: device.key, database: .privateDatabase(of: device.key.user), subscriptionID: "")
            let before = waiting.first { $0.key == key }
            let earlier = before.flatMap { $0.content }
                .flatMap { try? PushPayload(json: $0).ck.readNotificationIDs }
            var all = (earlier ?? []) + names
            if all.count > Self.readNamesMax || before != nil && earlier?.isEmpty ?? true { all = [] }
            let notificationID = random.nextUUID().lowercased()
            var payload = PushPayload(
                ck: PushCloudPart(
                    containerIdentifier: container?.identifier, userRecordName: device.key.user,
                    notificationID: notificationID))
            payload.ck.readNotificationIDs = all
            guard let content = try? payload.json() else { continue }
            changes.pushes.append(
                PushRow(
                    key: key, notificationID: notificationID, atMilliseconds: clock.nowMilliseconds(),
                    number: read.last?.key.number ?? 0, content: content))
        }
        pushes.noteReady(devices.filter { $0.key != reader }.map(\.token))
    }
}

extension CollectedNotification {
    fileprivate init(_ row: NotificationRow) throws {
        self.init(
            notificationID: row.notificationID, timestampMilliseconds: row.atMilliseconds, isRead: row.isRead,
            notification: try PushPayload(json: row.content))
    }

    fileprivate init(_ notificationID: String, isThere: Bool) {
        self.init(notificationID: notificationID, isRead: isThere ? true : nil)
        guard !isThere else { return }
        serverErrorCode = .notFound
        reason = "Notification not found"
    }
}
