import Foundation

/// Every symbol of CloudKit that the two guides name, in their code and in their text, below the test that runs the
/// app's code with it. A guide's own spelling stands before the name that Swift has for it.
enum GuideTable {
    struct Row: Hashable {
        /// As the guide spells it, where Swift spells it otherwise.
        var spelling: String
        /// As Swift spells it.
        var symbol: String
        /// The test that runs code with it.
        var test: String
    }

    static let rows: [Row] = text.split(separator: "\n").reduce(into: (test: "", rows: [Row]())) {
        table, line in
        guard line.hasPrefix("    ") else { return table.test = String(line) }
        let names = String(line.dropFirst(4)).components(separatedBy: " > ")
        table.rows.append(Row(spelling: names[0], symbol: names[names.count - 1], test: table.test))
    }.rows

    /// A test, and below it what its code uses: the symbol, or a guide's spelling `>` the symbol.
    private static let text = """
        theDefaultContainersAreTheUsersDatabases
            CKContainer.default()
            CKContainer.privateCloudDatabase
            CKContainer.sharedCloudDatabase
        publishedRecordsAreFoundByEveryone
            CKContainer.publicCloudDatabase
            CKDatabase.perform(inZoneWith:)
            CKRecord.setObject(forKey:)
        theFirstScreenSaysWhetherThereIsACloud
            CKContainer.accountStatus
        theUserHasARecordAndCanBeFound
            CKContainer.fetchUserRecordID
            CKContainer.add
            users > CKFetchRecordsOperation.fetchCurrentUserRecordOperation
            users > CKDiscoverUserIdentitiesOperation.userIdentityDiscoveredBlock
            users > CKDiscoverAllUserIdentitiesOperation.userIdentityDiscoveredBlock
            discoverable > CKContainer.requestApplicationPermission
        theFirstSaveCreatesTheZoneAndSubscribesOnce
            CKDatabase.add
            CKRecordZone(zoneName:)
            CKRecordZone(zoneID:)
            CKRecordZone.zoneID
            CKRecordZoneID
            CKOperation > CKModifyRecordsOperation.qualityOfService
            CKModifyRecordsOperation(recordsToSave:recordIDsToDelete:)
            CKModifyRecordsOperation.modifyRecordsCompletionBlock
            CKQuerySubscription(recordType:predicate:subscriptionID:options:)
            CKQuerySubscription.firesOnRecordCreation
            CKQuerySubscription.firesOnRecordUpdate
            CKQuerySubscription.firesOnRecordDeletion
            NSPredicate(value:)
            CKNotificationInfo.shouldSendContentAvailable
            CKQuerySubscription.notificationInfo
        oneRecordIsFetchedSavedAndDeletedWithBlocks
            fetch > CKDatabase.fetch(withRecordID:)
            save > CKDatabase.save
            delete > CKDatabase.delete(withRecordID:)
        zonesAndSubscriptionsAreListed
            CKRecordZone.default()
            CKFetchRecordZonesOperation.fetchRecordZonesCompletionBlock
            CKNotificationInfo.shouldBadge
            CKNotificationInfo.soundName
            CKDatabaseSuscription > CKDatabaseSubscription
            zone subscriptions > CKRecordZoneSubscription(zoneID:subscriptionID:)
            CKModifySubscriptionsOperation(subscriptionsToSave:subscriptionIDsToDelete:)
            CKModifySubscriptionsOperation.modifySubscriptionsCompletionBlock
            subscriptions > CKFetchSubscriptionsOperation.fetchSubscriptionCompletionBlock
        aZoneThatCanNotBeMadeIsTheSavesError
            CKModifyRecordZonesOperation(recordZonesToSave:recordZoneIDsToDelete:)
            CKModifyRecordZonesOperation.modifyRecordZonesCompletionBlock
        aRecordComesByItsName
            CKRecordID(recordName:zoneID:)
            CKError.zoneNotFound
            CKError.unknownItem
            CKFetchRecordsOperation(recordIDs:)
            CKFetchRecordsOperation.fetchRecordsCompletionBlock
        aRecipeWithItsTextAsAFileIsOnTheOtherDevice
            CKRecord(recordType:recordID:)
            CKRecordValue
            record["key"] > CKRecord.NSNumber
            record["key"] > CKRecord.NSDate
            record["key"] > CKRecord.Date
            CKAsset(fileURL:)
            CKAsset.fileURL
        whatAnotherDeviceSavedOrDeletedIsShownWithTheNextPull
            CKRecords > CKRecord.recordID
        thePoliciesOfASaveDifferInWhatTheyOverwrite
            changed keys > CKRecord.changedKeys
            save policies > CKModifyRecordsOperation.savePolicy
            SaveIfServerUnchanged > CKRecordSavePolicy.ifServerRecordUnchanged
            SaveChangedKeys > CKRecordSavePolicy.changedKeys
            SaveAllKeys > CKRecordSavePolicy.allKeys
        ofTwoRecipesTheOneThatWasCookedLaterStands
            CKRecord.allKeys
            CKErrorServerRecordChanged > CKError.serverRecordChanged
        aConflictHasThreeRecordsBySwiftsNamesAndByTheKeys
            change tag > CKRecord.recordChangeTag
            CKError.code
            CKError.Code
            CKError.partialErrorsByItemID
            CKError.clientRecord
            CKError.serverRecord
            CKError.ancestorRecord
            CKErrorPartialFailure > CKError.partialFailure
            CKPartialErrorsByItemID > CKPartialErrorsByItemIDKey
            CKRecordChangedErrorClientRecordKey
            CKRecordChangedErrorAncestorRecordKey
            CKRecordChangedErrorServerRecordKey
        aRecordIsKeptOnTheDeviceAndSavedFromThereLater
            serialize CKRecords > CKRecord.encodeSystemFields
            serialize CKRecords > CKRecord.archivedData(withRootObject:)
        withoutANetworkASaveSaysSoAndTheNextOneWorks
            CKError.retryAfterSeconds
            server busy > CKError.zoneBusy
            server busy > CKError.serviceUnavailable
            server busy > CKError.requestRateLimited
            CKErrorRetryAfterKey
        anAtomicBatchIsSavedWholeOrNotAtAll
            CKErrorBatchRequestFailed > CKError.batchRequestFailed
            progress > CKModifyRecordsOperation.perRecordProgressBlock
            one by one > CKModifyRecordsOperation.perRecordCompletionBlock
            atomic > CKModifyRecordsOperation.isAtomic
        aTokenThatIsTooOldBeginsAnew
            old token > CKError.changeTokenExpired
        aQueueThatIsHeldSendsNothingAndWhatIsCancelledNeverIs
            cancelling > OperationQueue.cancelAllOperations
            cancelling > CKError.operationCancelled
            suspending > OperationQueue.isSuspended
        aSaveThatWaitsForItsFetchRunsOnTheAppsOwnQueue
            dependencies > CKModifyRecordsOperation.addDependency
            priority levels > CKFetchRecordsOperation.queuePriority
            operation.database > CKFetchRecordsOperation.database
            operationQueue > OperationQueue.addOperation
            one by one > CKFetchRecordsOperation.perRecordCompletionBlock
        aRecordOfWhichOnlyAPartWasFetchedIsSavedWithoutLoss
            progress > CKFetchRecordsOperation.perRecordProgressBlock
            CKFetchRecordsOperation.desiredKeys
        ingredientsAreFoundByTheirRecipeAndGoWithIt
            CKReference(record:action:)
            CKReference(recordID:action:)
            cascading deletes > CKReferenceAction.deleteSelf
            CKQuery(recordType:predicate:)
            CKQueryOperation(query:)
            CKQueryOperation(cursor:)
            CKQueryOperation.recordFetchedBlock
            CKQueryOperation.queryCompletionBlock
            "owner = X" > NSPredicate(format:)
            CKFetchRecordChangesOperation(recordZoneID:previousServerChangeToken:)
            CKFetchRecordChangesOperation.recordChangedBlock
            CKFetchRecordChangesOperation.recordWithIDWasDeletedBlock
            CKFetchRecordChangesOperation.fetchRecordChangesCompletionBlock
            CKFetchRecordChangesOperation.moreComing
        aPullBringsWhatChangedSinceTheLastOne
            CKServerChangeToken
            CKServerChangeTokens > CKServerChangeToken.unarchiveObject(with:)
            CKServerChangeTokens > CKServerChangeToken.archivedData(withRootObject:)
            CKFetchRecordZoneChangesOptions.previousServerChangeToken
            CKFetchRecordZoneChangesOperation(recordZoneIDs:optionsByRecordZoneID:)
            CKFetchRecordZoneChangesOperation.fetchAllChanges
            CKFetchRecordZoneChangesOperation.recordChangedBlock
            CKFetchRecordZoneChangesOperation.recordWithIDWasDeletedBlock
            CKFetchRecordZoneChangesOperation.recordZoneFetchCompletionBlock
            CKFetchRecordZoneChangesOperation.fetchRecordZoneChangesCompletionBlock
        aPullOfManyPagesKeepsATokenAfterEach
            CKFetchRecordZoneChangesOperation.recordZoneChangeTokensUpdatedBlock
        aPushOfOursPullsAndAnotherDoesNot
            CKNotification(fromRemoteNotificationDictionary:)
            CKNotification.subscriptionID
        whatAPushDidNotBringIsInTheCollection
            collection > CKFetchNotificationChangesOperation.notificationChangedBlock
            collection > CKFetchNotificationChangesOperation.fetchNotificationChangesCompletionBlock
            mark as read > CKMarkNotificationsReadOperation.markNotificationsReadCompletionBlock
        aChangeOfTheAccountIsHeard
            CKAccountChangedNotification
            CKAccountChangedNotification > NSNotification.Name.CKAccountChanged
        """
}
