import CloudKit
import CloudKitTesting
import Foundation
import Testing

@testable import CloudKit

@Suite struct OperationGroupTests {
    @Test func theOperationsOwnConfigurationOverridesTheGroupsAndThatTheDefault() {
        let group = CKOperationGroup()
        group.defaultConfiguration.timeoutIntervalForRequest = 7
        group.defaultConfiguration.qualityOfService = .utility
        let operation = CKFetchRecordsOperation(recordIDs: [])
        operation.group = group
        operation.configuration.timeoutIntervalForRequest = 3
        #expect(operation.qualityOfService == .utility)
        operation.configuration.qualityOfService = .userInitiated
        #expect(operation.qualityOfService == .userInitiated)
        operation.configuration = CKOperation.Configuration()
        #expect(operation.qualityOfService == .utility)
        operation.qualityOfService = .background
        #expect(operation.configuration.qualityOfService == .background)
        #expect(operation.configuration.timeoutIntervalForResource == 604_800)
        #expect(operation.configuration.timeoutIntervalForRequest == 60)
    }

    @Test func aConfigurationIsNeverNilIsCopiedAndNilIsTheDefaultAgain() {
        let operation = CKFetchRecordsOperation(recordIDs: [])
        operation.configuration?.timeoutIntervalForRequest = 30
        operation.configuration.isLongLived = true
        if let configuration = operation.configuration {
            #expect(configuration.timeoutIntervalForRequest == 30 && configuration.isLongLived)
        } else {
            Issue.record("there is always a configuration")
        }
        let given = CKOperation.Configuration()
        given.timeoutIntervalForRequest = 5
        operation.configuration = given
        given.timeoutIntervalForRequest = 6
        #expect(operation.configuration?.timeoutIntervalForRequest == 5)
        #expect(!operation.configuration.isLongLived)
        operation.configuration = nil
        #expect(operation.configuration?.timeoutIntervalForRequest == 60)

        let group = CKOperationGroup()
        operation.group = group
        group.defaultConfiguration?.timeoutIntervalForResource = 7
        #expect(operation.effectiveConfiguration.timeoutIntervalForResource == 7)
        group.defaultConfiguration = given
        given.timeoutIntervalForRequest = 8
        #expect(operation.effectiveConfiguration.timeoutIntervalForRequest == 6)
        group.defaultConfiguration = nil
        #expect(group.defaultConfiguration?.timeoutIntervalForRequest == 60)
        #expect(operation.effectiveConfiguration.timeoutIntervalForRequest == 60)
    }

    @Test func aGroupSurvivesItsArchive() throws {
        let group = CKOperationGroup()
        group.name = "import"
        group.quantity = 12
        group.expectedSendSize = .tensOfMegabytes
        group.expectedReceiveSize = .kilobytes
        let data = try NSKeyedArchiver.archivedData(withRootObject: group, requiringSecureCoding: true)
        let read = try #require(
            try NSKeyedUnarchiver.unarchivedObject(ofClass: CKOperationGroup.self, from: data))
        #expect(
            read.operationGroupID == group.operationGroupID && read.name == "import" && read.quantity == 12)
        #expect(read.expectedSendSize == .tensOfMegabytes && read.expectedReceiveSize == .kilobytes)
    }

    @Test func requestsInsideConfiguredWithUseItsConfiguration() async throws {
        let devices = try await TwoDevices()
        let configuration = CKOperation.Configuration()
        configuration.qualityOfService = .utility
        let group = CKOperationGroup()
        let operation = CKFetchRecordsOperation(recordIDs: [])
        let plain = CKFetchRecordsOperation(recordIDs: [])
        devices.phone.configuredWith(configuration: configuration, group: group) { database in
            database.add(operation)
            #expect(database.databaseScope == .private)
        }
        devices.phone.add(plain)
        #expect(operation.qualityOfService == .utility && operation.group === group)
        #expect(plain.qualityOfService == .default && plain.group == nil)
        let container = devices.cloud.device(user: "ada").container
        let zones = try await container.configuredWith(configuration: configuration) { container in
            try await container.privateCloudDatabase.allRecordZones()
        }
        #expect(zones.contains { $0.zoneID == devices.zoneID })
    }
}
