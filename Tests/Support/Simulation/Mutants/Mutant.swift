import CloudWire

/// A seeded bug: what no system may do, put in at a seam, so that the product's code stays as it is. Each must be seen
/// by the checker within the drawn seeds.
package enum Mutant: String, CaseIterable, Sendable {
    /// The bytes of no fields, in hexadecimal digits.
    private static let noFields = FieldsBinary.encode([:]).map {
        String(UInt16($0) + 0x100, radix: 16).suffix(2)
    }
    .joined()

    // The wire.

    /// The service acknowledges a write and doesn't keep it.
    case acknowledgedWriteDropped
    /// The device keeps the token of a page whose records it lost: a token stored outside the transaction.
    case tokenWithoutItsPage
    /// What is made again after a deletion carries the deleted record's tag.
    case tagLeakedOverADeletion
    /// A page's deletions are passed over.
    case remoteDeletionHidden
    /// A page's last record is passed over, as by a fetch that stops early and stores the token all the same.
    case lastRecordOfAPageHidden

    /// A record is saved without the files that were sent for it.
    case savedWithoutItsFiles
    /// The service acknowledges a file and doesn't keep it.
    case acknowledgedFileDropped

    // The device's tables.

    /// Some changes of a commit don't come into the queue.
    case changeNotQueued
    /// Deletions don't come into the queue.
    case deletionNotQueued
    /// A change-set is forgotten when its attempt ends, whatever came of that.
    case forgottenAfterAnAttempt
    /// The queue forgets the values that were there before a change.
    case originalsForgotten
    /// An answer's change tag is not stored.
    case tagNotStored
    /// A record that is made again after its deletion was queued has the tag of its life before.
    case tagOfTheFormerLife
    /// Only the first change of a change-set is sent when it has several.
    case onlyTheFirstOfAChangeSet
    /// A relaunch forgets the changes whose values the objects hold.
    case keysForgottenAtRelaunch
    /// The counts of what waits stay as they were.
    case countsNotKept
    /// A change token that is to be forgotten stays.
    case tokenNotForgotten

    // The app's blocks and logs.

    /// The record handler gives back another field's value than it is asked for.
    case wrongValueGivenBack
    /// The merge block keeps nothing of what waits.
    case mergeKeepsNothing
    /// The merge block writes no row.
    case mergeWritesNothing
    /// Not every merge's decision is told.
    case mergeLogSilent

    /// Whether it shows in records with files only.
    package var isOfFiles: Bool { self == .savedWithoutItsFiles || self == .acknowledgedFileDropped }

    /// What is wrong in the device's own tables, as a trigger on them; `$` stands for the extension's registered name.
    package var triggers: String? {
        switch self {
        case .changeNotQueued:
            """
            CREATE TRIGGER IF NOT EXISTS mutant AFTER INSERT ON cloudKit_change_$ WHEN NEW.kind = 0 AND NEW.id % 5 = 0
            BEGIN DELETE FROM cloudKit_change_$ WHERE id = NEW.id; END
            """
        case .deletionNotQueued:
            """
            CREATE TRIGGER IF NOT EXISTS mutant AFTER INSERT ON cloudKit_change_$ WHEN NEW.kind = 1
            BEGIN DELETE FROM cloudKit_change_$ WHERE id = NEW.id; END
            """
        case .forgottenAfterAnAttempt:
            """
            CREATE TRIGGER IF NOT EXISTS mutant AFTER UPDATE OF in_flight ON cloudKit_changeset_$
            WHEN NEW.in_flight = -1
            BEGIN DELETE FROM cloudKit_change_$ WHERE sequence = NEW.sequence; END
            """
        case .originalsForgotten:
            """
            CREATE TRIGGER IF NOT EXISTS mutant AFTER INSERT ON cloudKit_change_$ WHEN NEW.kind = 0
            BEGIN UPDATE cloudKit_change_$ SET originals = x'\(Self.noFields)' WHERE id = NEW.id; END
            """
        case .tagNotStored:
            """
            CREATE TRIGGER IF NOT EXISTS mutant AFTER UPDATE OF change_tag ON cloudKit_record_$
            WHEN OLD.change_tag IS NOT NULL AND NEW.change_tag IS NOT NULL
            BEGIN UPDATE cloudKit_record_$ SET change_tag = OLD.change_tag WHERE id = NEW.id; END
            """
        case .tagOfTheFormerLife:
            """
            CREATE TRIGGER IF NOT EXISTS mutant AFTER UPDATE ON cloudKit_record_$
            WHEN NEW.generation > 0 AND NEW.change_tag IS NULL
            BEGIN UPDATE cloudKit_record_$ SET change_tag = (
                SELECT max(change_tag) FROM cloudKit_record_$ WHERE record_name = NEW.record_name
                AND generation < NEW.generation) WHERE id = NEW.id; END
            """
        case .onlyTheFirstOfAChangeSet:
            """
            CREATE TRIGGER IF NOT EXISTS mutant AFTER INSERT ON cloudKit_change_$
            WHEN (SELECT count(*) FROM cloudKit_change_$ WHERE sequence = NEW.sequence) > 1
            BEGIN DELETE FROM cloudKit_change_$ WHERE id = NEW.id; END
            """
        case .countsNotKept:
            """
            CREATE TRIGGER IF NOT EXISTS mutant AFTER UPDATE ON cloudKit_count_$ WHEN NEW.changes > 0
            BEGIN UPDATE cloudKit_count_$ SET changes = 0 WHERE database = NEW.database; END
            """
        case .tokenNotForgotten:
            """
            CREATE TRIGGER IF NOT EXISTS mutant BEFORE UPDATE OF token ON cloudKit_token_$ WHEN NEW.token IS NULL
            BEGIN SELECT RAISE(IGNORE); END
            """
        default: nil
        }
    }

    /// What is done to the tables when the file is opened.
    package var atRelaunch: String? {
        self == .keysForgottenAtRelaunch ? "DELETE FROM cloudKit_change_$ WHERE restore IS NOT NULL" : nil
    }
}
