internal import System

/// How far a client knows a zone, or a database: what stands in `syncToken`, opaque to clients.
package struct ChangeToken: Hashable, Sendable {
    /// Why a text is no change token.
    package enum DecodingError: Error, Hashable, Sendable {
        /// The text was cut or changed, or never was a token.
        case damaged
        /// A later version of the server wrote it.
        case unknownFormat(UInt8)
    }

    /// What the token is about.
    package enum Subject: Hashable, Sendable {
        /// The zones of the database of the user with this record name.
        case database(ownerRecordName: String)
        /// The records of a zone. A token's zone always has an owner, and no zone type.
        case zone(ownerRecordName: String, zoneName: String)
        /// What the user with this record name was told.
        case notifications(ownerRecordName: String)
    }

    /// A walk from the newest change downwards that isn't done.
    package struct Descent: Hashable, Sendable {
        /// The newest change when the walk began: what the client knows when it is done.
        package var newest: Int64
        /// The last change that the client was told of: the next ones are below it.
        package var below: Int64

        /// Makes a descent.
        package init(newest: Int64, below: Int64) {
            self.newest = newest
            self.below = below
        }
    }

    /// The database in which it was given.
    package var scope: DatabaseScope
    /// What it is about.
    package var subject: Subject
    /// The epoch of the zone, or of the database's own counter.
    package var epoch: UInt64
    /// The last change that the client has seen.
    package var counter: Int64
    /// Of a fetch that began without a token, the counter then: its later pages skip tombstones up to here.
    package var liveUntil: Int64
    /// Of a fetch that begins with the newest change: where it stands. `counter` is what the client knew before it.
    package var descent: Descent?

    /// Makes a token.
    package init(
        scope: DatabaseScope, subject: Subject, epoch: UInt64, counter: Int64, liveUntil: Int64 = 0,
        descent: Descent? = nil
    ) {
        self.scope = scope
        self.subject = subject
        self.epoch = epoch
        self.counter = counter
        self.liveUntil = liveUntil
        self.descent = descent
    }

    private static let formatVersion: UInt8 = 1
    /// The same with a descent at its end.
    private static let descentVersion: UInt8 = 2
    private static let textBytesMax = 4096

    /// The token on the wire, base64.
    package var text: String {
        var writer = BinaryWriter()
        writer.byte(descent == nil ? Self.formatVersion : Self.descentVersion)
        writer.byte(Self.code(of: scope))
        switch subject {
        case .database(let owner):
            writer.byte(0)
            writer.text(owner)
        case .zone(let owner, let name):
            writer.byte(1)
            writer.text(owner)
            writer.text(name)
        case .notifications(let owner):
            writer.byte(2)
            writer.text(owner)
        }
        writer.fixed64(epoch)
        writer.signed(counter)
        writer.signed(liveUntil)
        if let descent {
            writer.signed(descent.newest)
            writer.signed(descent.below)
        }
        writer.appendChecksum()
        return Base64.encoded(writer.bytes)
    }

    /// Reads a token. Throws `DecodingError` for a text that is damaged, foreign, or of a later format.
    package init(text: String) throws(DecodingError) {
        guard text.utf8.count <= Self.textBytesMax, let bytes = Base64.decoded(text),
            let content = BinaryReader.checkedContent(of: bytes)
        else { throw .damaged }
        guard let version = content.first else { throw .damaged }
        guard version == Self.formatVersion || version == Self.descentVersion else {
            throw .unknownFormat(version)
        }
        do {
            self = try Self.decoded(content)
        } catch {
            throw .damaged
        }
    }

    private static func decoded(_ content: ArraySlice<UInt8>) throws(BinaryError) -> ChangeToken {
        var reader = BinaryReader(content)
        let version = try reader.byte()
        let scope = try scope(of: reader.byte())
        let subject: Subject
        switch try reader.byte() {
        case 0: subject = .database(ownerRecordName: try reader.text())
        case 1: subject = .zone(ownerRecordName: try reader.text(), zoneName: try reader.text())
        case 2: subject = .notifications(ownerRecordName: try reader.text())
        default: throw reader.error("unknown subject")
        }
        var token = ChangeToken(
            scope: scope, subject: subject, epoch: try reader.fixed64(), counter: try reader.signed(),
            liveUntil: try reader.signed())
        if version == descentVersion {
            token.descent = Descent(newest: try reader.signed(), below: try reader.signed())
        }
        try reader.expectEnd()
        return token
    }

    private static func code(of scope: DatabaseScope) -> UInt8 {
        switch scope {
        case .public: 1
        case .private: 2
        case .shared: 3
        }
    }

    private static func scope(of code: UInt8) throws(BinaryError) -> DatabaseScope {
        switch code {
        case 1: .public
        case 2: .private
        case 3: .shared
        default: throw BinaryError(reason: "unknown scope", byteOffset: 1)
        }
    }
}
