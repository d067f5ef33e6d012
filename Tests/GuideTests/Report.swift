import CloudKit
import Foundation
import YapCloudKit

struct Report: CloudModel, Equatable {
    var title = ""
    var photo: CloudFile?
    var pages: [CloudFile] = []
    var recording: CloudFile?

    static let recordType = "report"
    static let fields = CloudFields<Report> {
        $0.field(\.title)
        $0.field(\.photo)
        $0.field(\.pages)
        $0.field(\.recording, fetched: .onRequest)
    }
}
