import CloudWire

/// A client's position in a feed: its token, checked against the current feed.
struct FeedPosition {
    let scope: DatabaseScope
    let subject: ChangeToken.Subject
    let epoch: UInt64
    /// The last change that the client has fetched.
    let counter: Int64
    /// Deletions up to here are omitted, since the client started without a token at this position.
    let liveUntil: Int64
    /// The position of a newest-first walk. `counter` is the client's position before it.
    let descent: ChangeToken.Descent?

    /// Checks `syncToken` against the feed `subject`, which is at `counter` in `epoch`.
    ///
    /// Throws a `WireError` that distinguishes two kinds of invalid tokens: *expired* (records missing from a
    /// full fetch were deleted), and *reset* (another epoch, or not a token of this feed, so nothing is known
    /// about missing records). A *reset* includes whether the zone was deleted and recreated since.
    init(
        _ syncToken: String?, scope: DatabaseScope, subject: ChangeToken.Subject, epoch: UInt64,
        counter: Int64,
        floor: Int64
    ) throws {
        self.scope = scope
        self.subject = subject
        self.epoch = epoch
        guard let syncToken else {
            self.counter = 0
            liveUntil = counter
            descent = nil
            return
        }
        guard let token = try? ChangeToken(text: syncToken), token.scope == scope, token.subject == subject
        else {
            throw ServiceError.tokenRefused(.reset)
        }
        // The token of a feed that hadn't begun precedes the first change of any epoch. Unlike a client
        // without a token, its client may know records created since, and must receive their deletions.
        let isOfThisLife =
            token.epoch == epoch
            || token.epoch == Self.epochBeforeTheFirst && token.counter == 0 && token.liveUntil == 0
        guard isOfThisLife || !Self.isOfEarlierLife(token, epoch) else {
            throw ServiceError.tokenRefused(.reset, zoneWasDeleted: true)
        }
        guard isOfThisLife, token.counter <= counter, token.liveUntil <= counter, token.counter >= 0,
            token.liveUntil >= 0
        else { throw ServiceError.tokenRefused(.reset) }
        if let descent = token.descent {
            guard descent.newest <= counter, token.counter <= descent.newest, descent.below > token.counter,
                descent.below <= descent.newest
            else { throw ServiceError.tokenRefused(.reset) }
        }
        guard max(token.counter, token.liveUntil) >= floor else { throw ServiceError.tokenRefused(.expired) }
        self.counter = token.counter
        liveUntil = token.liveUntil
        descent = token.descent
    }

    private static func isOfEarlierLife(_ token: ChangeToken, _ epoch: UInt64) -> Bool {
        guard case .zone = token.subject else { return false }
        return ZoneEpochs.isEarlier(token.epoch, than: epoch)
    }

    /// The epoch of a database in which no zone was ever created.
    static let epochBeforeTheFirst: UInt64 = 0

    /// Returns the token of a client that has fetched the feed up to `counter`.
    func token(counter: Int64, descent: ChangeToken.Descent? = nil) -> String {
        ChangeToken(
            scope: scope, subject: subject, epoch: epoch, counter: counter, liveUntil: liveUntil,
            descent: descent
        ).text
    }
}
