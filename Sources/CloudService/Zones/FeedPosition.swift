import CloudWire

/// How far a client knows a feed: what its token says, after it was checked against the feed as it is now.
struct FeedPosition {
    let scope: DatabaseScope
    let subject: ChangeToken.Subject
    let epoch: UInt64
    /// The last change that the client has seen.
    let counter: Int64
    /// Deletions up to here are not news: the client began without a token when the feed stood here.
    let liveUntil: Int64
    /// Where a walk from the newest change downwards stands; `counter` is what the client knew before it.
    let descent: ChangeToken.Descent?

    /// Checks `syncToken` against the feed `subject`, which stands at `counter` in `epoch`.
    ///
    /// Throws a `WireError` that tells the two kinds of refused token apart: *expired* (what is absent from a
    /// full fetch was deleted), *reset* (another epoch, or no token of this feed: nothing can be said of what
    /// is absent). A *reset* says whether the zone was deleted and made again since.
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
        // A token of a feed that hadn't begun stands before the first change of any epoch. Unlike a client
        // without a token, its client may know what was made since, and must hear that it was deleted.
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

    /// The epoch of a database in which no zone was ever made.
    static let epochBeforeTheFirst: UInt64 = 0

    /// The token of a client that has seen the feed up to `counter`.
    func token(counter: Int64, descent: ChangeToken.Descent? = nil) -> String {
        ChangeToken(
            scope: scope, subject: subject, epoch: epoch, counter: counter, liveUntil: liveUntil,
            descent: descent
        ).text
    }
}
