import YapCloudKit

struct Item: CloudModel, Equatable {
    var name = ""
    var isBought = false
    var shops: [String] = []

    static let recordType = "item"
    static let fields = CloudFields<Item> {
        $0.field(\.name)
        $0.field(\.isBought, as: "bought")
        $0.field(\.shops).mergedAsSet()
    }
}
