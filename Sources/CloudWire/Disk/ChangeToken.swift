internal import System

/// A client's position in the changes of a zone or a database. The contents of `syncToken`, opaque to
/// clients.
package struct ChangeToken: Hashable, Sendable {
    /// The reason that a text isn't a change token.
    package enum DecodingError: Error, Hashable, Sendable {
        /// The text was truncated or changed, or was never a token.
        case damaged
        /// The token was made by a later version of the server.
        case unknownFormat(UInt8)
    }

    /// The feed that the token belongs to.
    package enum Subject: Hashable, Sendable {
        /// The zones of the database of the user with this record name.
        case database(ownerRecordName: String)
        /// The records of a zone. A token's zone always has an owner, and no zone type.
        case zone(ownerRecordName: String, zoneName: String)
        /// The notifications of the user with this record name.
        case notifications(ownerRecordName: String)
    }

    /// The position of a fetch that started with the newest change and isn't complete.
    package struct Descent: Hashable, Sendable {
        /// Counter of the newest change when the fetch started. The client's position when the fetch is
        /// complete.
        package var newest: Int64
        /// Counter of the last change that the client received. The next changes are below it.
        package var below: Int64

        /// Makes a descent.
        package init(newest: Int64, below: Int64) {
            self.newest = newest
            self.below = below
        }
    }

    /// Scope of the database that issued the token.
    package var scope: DatabaseScope
    /// The feed that the token belongs to.
    package var subject: Subject
    /// The epoch of the zone, or of the database's own counter.
    package var epoch: UInt64
    /// Counter of the last change that the client has received.
    package var counter: Int64
    /// For a fetch that started without a token: the counter at its start. Later pages omit tombstones up to
    /// this counter.
    package var liveUntil: Int64
    /// The position of a fetch that starts with the newest change. `counter` is then the client's position
    /// before the fetch.
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
    /// Format version of a token that ends with a descent.
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

    /// Reads a token. Throws `DecodingError` if the text is damaged, isn't a token, or has a later format.
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
