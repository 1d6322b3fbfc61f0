/** Generated from the openapi.json of store-webhooks by scripts/generate.ts; do not edit. */
export interface paths {
    "/api/v1/hooks/order_updated/{token}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Return the value of the query parameter `check`, for providers that verify an address
         * @description The token is not looked up.
         */
        get: operations["check_order_updated"];
        put?: never;
        /**
         * An order changed at the POS
         * @description The token in the path is the credential.
         */
        post: operations["receive_order_updated"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/hooks/new_member/{token}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Return the value of the query parameter `check`, for providers that verify an address
         * @description The token is not looked up.
         */
        get: operations["check_new_member"];
        put?: never;
        /**
         * A member was created at the POS
         * @description The token in the path is the credential.
         */
        post: operations["receive_new_member"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/hooks/member_updated/{token}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Return the value of the query parameter `check`, for providers that verify an address
         * @description The token is not looked up.
         */
        get: operations["check_member_updated"];
        put?: never;
        /**
         * A member changed at the POS
         * @description The token in the path is the credential.
         */
        post: operations["receive_member_updated"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/hooks/job_assigned/{token}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Return the value of the query parameter `check`, for providers that verify an address
         * @description The token is not looked up.
         */
        get: operations["check_job_assigned"];
        put?: never;
        /**
         * A driver got the delivery
         * @description The token in the path is the credential.
         */
        post: operations["receive_job_assigned"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/hooks/job_started/{token}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Return the value of the query parameter `check`, for providers that verify an address
         * @description The token is not looked up.
         */
        get: operations["check_job_started"];
        put?: never;
        /**
         * The driver picked the delivery up
         * @description The token in the path is the credential.
         */
        post: operations["receive_job_started"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/hooks/job_arrived/{token}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Return the value of the query parameter `check`, for providers that verify an address
         * @description The token is not looked up.
         */
        get: operations["check_job_arrived"];
        put?: never;
        /**
         * The driver arrived at the address
         * @description The token in the path is the credential.
         */
        post: operations["receive_job_arrived"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/hooks/job_completed/{token}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Return the value of the query parameter `check`, for providers that verify an address
         * @description The token is not looked up.
         */
        get: operations["check_job_completed"];
        put?: never;
        /**
         * The delivery was completed
         * @description The token in the path is the credential.
         */
        post: operations["receive_job_completed"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/hooks/identity-verification-updated/{service}/{token}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Return the value of the query parameter `check`, for providers that verify an address
         * @description The token is not looked up.
         */
        get: operations["check_identity_verification_updated"];
        put?: never;
        /**
         * The state of a verification changed
         * @description The token in the path is the credential.
         */
        post: operations["receive_identity_verification_updated"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/hooks/identity-verification-completed/{service}/{token}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Return the value of the query parameter `check`, for providers that verify an address
         * @description The token is not looked up.
         */
        get: operations["check_identity_verification_completed"];
        put?: never;
        /**
         * A verification was completed
         * @description The token in the path is the credential.
         */
        post: operations["receive_identity_verification_completed"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/hooks/payment-auth-completed/{service}/{token}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Return the value of the query parameter `check`, for providers that verify an address
         * @description The token is not looked up.
         */
        get: operations["check_payment_auth_completed"];
        put?: never;
        /**
         * A 3DS challenge was completed
         * @description The token in the path is the credential.
         */
        post: operations["receive_payment_auth_completed"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/stores": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * The stores, newest first
         * @description Requires bearer, with the scope stores:admin.
         */
        get: operations["listStores"];
        put?: never;
        /**
         * Register a store; its webhook tokens are shown this once
         * @description Requires bearer, with the scope stores:admin.
         */
        post: operations["createStore"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/stores/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * A store, without its credentials
         * @description Requires bearer, with the scope stores:admin.
         */
        get: operations["getStore"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        /**
         * Change a store; fields that are not sent stay, except credentials of a provider whose kind or address changed
         * @description Requires bearer, with the scope stores:admin.
         */
        patch: operations["changeStore"];
        trace?: never;
    };
    "/v1/stores/{id}/webhook-token/rotate": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Replace one of the two webhook tokens; the old one still works for graceSeconds
         * @description Requires bearer, with the scope stores:admin.
         */
        post: operations["rotateWebhookToken"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/stores/{id}/users": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * The users, newest first
         * @description Requires bearer, with the scope stores:admin.
         */
        get: operations["list_users"];
        put?: never;
        /**
         * Register a customer who is a member at the POS
         * @description Requires bearer, with the scope stores:admin.
         */
        post: operations["createUser"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/stores/{id}/notifications/{notificationId}/resend": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Send the mail of a notification again
         * @description The recipient is looked up again.
         *
         *     Requires bearer, with the scope stores:admin.
         */
        post: operations["resendNotification"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/stores/{id}/orders": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * The orders, most recently changed first
         * @description Requires bearer, with the scope stores:admin.
         */
        get: operations["list_orders"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/stores/{id}/orders/{orderId}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * An order with its items
         * @description Requires bearer, with the scope stores:admin.
         */
        get: operations["getOrder"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/stores/{id}/members": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * The members, most recently changed first
         * @description Requires bearer, with the scope stores:admin.
         */
        get: operations["list_members"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/stores/{id}/members/{memberId}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * A member as its webhooks described it
         * @description Requires bearer, with the scope stores:admin.
         */
        get: operations["getMember"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/stores/{id}/import-jobs": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Imports of members as users, newest first
         * @description Requires bearer, with the scope stores:admin.
         */
        get: operations["list_importJobs"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/stores/{id}/users/{userId}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * One user
         * @description Requires bearer, with the scope stores:admin.
         */
        get: operations["getUser"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/stores/{id}/delivery-jobs": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * The delivery jobs, most recently changed first
         * @description Requires bearer, with the scope stores:admin.
         */
        get: operations["list_deliveryJobs"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/stores/{id}/delivery-jobs/{jobId}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * A delivery job
         * @description Requires bearer, with the scope stores:admin.
         */
        get: operations["getDeliveryJob"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/stores/{id}/verifications": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * The identity verifications, most recently changed first
         * @description Requires bearer, with the scope stores:admin.
         */
        get: operations["list_verifications"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/stores/{id}/verifications/{transactionId}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * A verification; of two providers with the same id the one that changed last
         * @description Requires bearer, with the scope stores:admin.
         */
        get: operations["getVerification"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/stores/{id}/payments": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * The registered 3DS transactions, newest first
         * @description Requires bearer, with the scope stores:admin.
         */
        get: operations["list_payments"];
        put?: never;
        /**
         * Register the order that a 3DS transaction pays
         * @description Requires bearer, with the scope stores:admin.
         */
        post: operations["createPayment"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/stores/{id}/payments/{service}/{transactionId}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * The order that a 3DS transaction pays
         * @description Requires bearer, with the scope stores:admin.
         */
        get: operations["getPayment"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/stores/{id}/notifications": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Notifications to customers and to the shop, newest first
         * @description Requires bearer, with the scope stores:admin.
         */
        get: operations["list_notifications"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/stores/{id}/event-reveals": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * The callers who saw an event without masking or found it by a value of its body, newest first
         * @description Requires bearer, with the scope stores:admin.
         */
        get: operations["list_eventReveals"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/stores/{id}/changes": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * The changes of the settings of a store, newest first
         * @description Requires bearer, with the scope stores:admin.
         */
        get: operations["listStoreChanges"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/stores/{id}/events/replay": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Process the events of a span of time again, or count them
         * @description Requires bearer, with the scope stores:admin.
         */
        post: operations["replayEvents"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/stores/{id}/events/{eventId}/replay": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Process an event again, or show what that would change
         * @description Requires bearer, with the scope stores:admin.
         */
        post: operations["replayEvent"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/stores/{id}/events/recheck": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Verify the refused events of a span of time again, and process those that pass
         * @description Requires bearer, with the scope stores:admin.
         */
        post: operations["recheckEvents"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/stores/{id}/events/{eventId}/recheck": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Verify a refused event again, and process it if its signature is valid now
         * @description Requires bearer, with the scope stores:admin.
         */
        post: operations["recheckEvent"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/stores/{id}/events": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * The webhooks that were received, newest first
         * @description Requires bearer, with the scope stores:admin.
         */
        get: operations["listEvents"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/stores/{id}/events/{eventId}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * A webhook as it was received; most values are masked unless revealed
         * @description Requires bearer, with the scope stores:admin.
         */
        get: operations["getEvent"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
}
export type webhooks = Record<string, never>;
export interface components {
    schemas: {
        /**
         * @description An order of the POS
         * @example {
         *       "id": "demo-order-1",
         *       "orderNo": "1001",
         *       "status": "PENDING",
         *       "consumerId": "demo-member-1",
         *       "cart": {
         *         "total": 25,
         *         "items": [
         *           {
         *             "productId": "p-1",
         *             "productName": "Tea",
         *             "quantity": 2,
         *             "price": 12.5,
         *             "totalPrice": 25
         *           }
         *         ]
         *       }
         *     }
         */
        OrderPayload: {
            id: string | number;
            orderNo?: (string | null) | (number | null);
            /** @description Such as PENDING, COMPLETED or CANCELLED */
            status: string;
            /** @description The member who ordered */
            consumerId?: (string | null) | (number | null);
            memo?: string | null;
            rewardName?: string | null;
            /** @description The public identifier of the cart */
            publicKey?: string | null;
            memberGroup?: string | null;
            trackingStatus?: string | null;
            /** @description Time of the change in ms; not in the contract, optional */
            modified?: number | null;
            cart?: {
                subTotal?: number | null;
                discount?: number | null;
                totalDiscount?: number | null;
                deliveryFee?: number | null;
                creditCardFee?: number | null;
                total?: number | null;
                taxTotal?: number | null;
                totalCalcTax?: number | null;
                promoCode?: string | null;
                items?: {
                    productId?: (string | null) | (number | null);
                    productName?: string | null;
                    quantity: number;
                    price?: number | null;
                    totalPrice?: number | null;
                }[];
            } | null;
        };
        /** @description order.updated of Square */
        SquareOrderEvent: {
            merchant_id?: (string | null) | (number | null);
            type?: string | null;
            event_id?: (string | null) | (number | null);
            created_at?: string | null;
            data: {
                object: {
                    order_updated: {
                        order_id: string | number;
                        state?: string | null;
                        version?: number | null;
                    };
                };
            };
        };
        /** @description Either the field `payload` alone, or the fields of the JSON body */
        WebhookForm: {
            /** @description The JSON body as text */
            payload?: string;
        } & {
            [key: string]: unknown;
        };
        /**
         * @description A member of the POS
         * @example {
         *       "id": "m-1",
         *       "modified": 1700000000000,
         *       "email": "ann@example.test",
         *       "status": "ACTIVE"
         *     }
         */
        MemberPayload: {
            id: string | number;
            /** @description Time of the change in ms */
            modified?: number | null;
            email?: string | null;
            firstName?: string | null;
            lastName?: string | null;
            phone?: string | null;
            status?: string | null;
            type?: string | null;
        };
        /** @description customer.created or customer.updated of Square */
        SquareCustomerEvent: {
            data: {
                object: {
                    customer: {
                        id: string | number;
                        version?: number | null;
                        email_address?: string | null;
                        given_name?: string | null;
                        family_name?: string | null;
                        phone_number?: string | null;
                    };
                };
            };
        };
        /**
         * @description A delivery job of the POS
         * @example {
         *       "id": "j-1",
         *       "orderId": "o-1",
         *       "driverId": "d-1",
         *       "status": "ASSIGNED",
         *       "driverLocation": {
         *         "lat": 37.8,
         *         "lng": -122.4
         *       }
         *     }
         */
        DeliveryJobPayload: {
            id: string | number;
            orderId?: (string | null) | (number | null);
            driverId?: (string | null) | (number | null);
            status?: string | null;
            estimatedArrival?: number | null;
            driverLocation?: {
                lat: number;
                lng: number;
            } | null;
            /** @description Time of the step in ms; not in the contract, optional */
            updatedAt?: number | null;
        };
        /** @description A task trigger of Onfleet */
        OnfleetTrigger: {
            taskId: string | number;
            triggerId: number;
            time?: number | null;
            workerId?: (string | null) | (number | null);
            data?: {
                task?: {
                    state?: number | null;
                    worker?: (string | null) | (number | null);
                    estimatedCompletionTime?: number | null;
                    completionDetails?: {
                        time?: number | null;
                    } | null;
                    metadata?: {
                        name: string;
                        value: unknown;
                    }[] | null;
                } | null;
                worker?: {
                    name?: string | null;
                    phone?: string | null;
                    location?: number[] | null;
                } | null;
            } | null;
        };
        /** @description A delivery event of DoorDash Drive */
        DoorDashEvent: {
            event_name?: string | null;
            event_type?: string | null;
            external_delivery_id: string | number;
            delivery_status?: string | null;
            order_external_reference_id?: (string | null) | (number | null);
            dasher_id?: (string | null) | (number | null);
            dasher_name?: string | null;
            dasher_dropoff_phone_number?: string | null;
            dasher_phone_number?: string | null;
            dasher_location?: {
                lat: number;
                lng: number;
            } | null;
            dasher_location_lat?: number | null;
            dasher_location_lng?: number | null;
            /** Format: date-time */
            dropoff_time_estimated?: string | null;
            /** Format: date-time */
            pickup_time_actual?: string | null;
            /** Format: date-time */
            dropoff_time_actual?: string | null;
            /** Format: date-time */
            created_at?: string | null;
            /** Format: date-time */
            updated_at?: string | null;
        };
        /**
         * @description An identity verification of any provider
         * @example {
         *       "service": "persona",
         *       "transactionId": "t-1",
         *       "status": "PENDING_REVIEW",
         *       "userId": "u-1"
         *     }
         */
        VerificationPayload: {
            /** @description The provider, such as persona */
            service: string;
            transactionId: string | number;
            status: string;
            userId?: (string | null) | (number | null);
            updatedAt?: number | null;
        };
        /** @description An inquiry event of Persona; keys in any of its inflections */
        PersonaInquiryEvent: {
            data: {
                id?: (string | null) | (number | null);
                attributes: {
                    name: string;
                    /** Format: date-time */
                    "created-at"?: string | null;
                    payload: {
                        data: {
                            id: string | number;
                            attributes: {
                                status: string;
                                "reference-id"?: (string | null) | (number | null);
                                /** Format: date-time */
                                "updated-at"?: string | null;
                            };
                        };
                    };
                };
            };
        };
        /** @description The decision webhook of Veriff */
        VeriffDecision: {
            verification: {
                id: string | number;
                code: number;
                status?: string | null;
                /** Format: date-time */
                decisionTime?: string | null;
                vendorData?: (string | null) | (number | null);
                endUserId?: (string | null) | (number | null);
            };
        };
        /** @description The event webhook of Veriff */
        VeriffEvent: {
            id: string | number;
            code: number;
            action: string;
            vendorData?: (string | null) | (number | null);
            endUserId?: (string | null) | (number | null);
        };
        /** @description The full auto webhook of Veriff */
        VeriffFullAuto: {
            /** @enum {string} */
            eventType: "fullauto";
            status: string;
            sessionId: string | number;
            /** Format: date-time */
            acceptanceTime?: string | null;
            /** Format: date-time */
            time?: string | null;
            data: {
                verification: {
                    decision?: string | null;
                };
            };
            vendorData?: (string | null) | (number | null);
            endUserId?: (string | null) | (number | null);
        };
        /**
         * @description The end of a 3DS challenge
         * @example {
         *       "service": "threedsecureio",
         *       "cres": "eyJ0aHJlZURTU2VydmVyVHJhbnNJRCI6InRkcy0xIn0",
         *       "transactionId": "t-1"
         *     }
         */
        PaymentAuthPayload: {
            /** @description The 3DS provider, such as threedsecureio */
            service: string;
            /** @description The 3DS challenge response: base64 or base64url of JSON */
            cres: string;
            transactionId?: string;
        } & {
            [key: string]: unknown;
        };
        /** @description The form post of the browser; one of `cres` and `CRes` is needed */
        PaymentAuthForm: {
            /** @description The 3DS challenge response: base64 or base64url of JSON */
            cres?: string;
            /** @description The 3DS challenge response: base64 or base64url of JSON */
            CRes?: string;
            /** @description The transaction id, or base64url of it */
            threeDSSessionData?: string;
        } & {
            [key: string]: unknown;
        };
        Payment: {
            /** @enum {string} */
            service: "threedsecureio" | "netcetera";
            /** @description The id that the challenge result contains */
            transactionId: string;
            orderId: string;
            /** @description The only challenge that counts for the payment; without it, the first that completes it counts */
            threeDSServerTransId?: string;
        };
        /** @description RFC 9457 problem details */
        Problem: {
            type: string;
            title: string;
            status: number;
            detail: string;
            /** @description Stable name of the problem */
            code: string;
            requestId: string;
            /** @description Messages by parameter or body path */
            errors?: {
                [key: string]: string[];
            };
        };
        NewStore: {
            /** Format: uuid */
            id: string;
            name: string;
            storeUrl: string;
            pos: {
                kind: string;
                baseUrl?: string;
                mapping?: {
                    [key: string]: {
                        [key: string]: string;
                    };
                };
                /** @description Names of the credentials that are set */
                credentials: string[];
            };
            customerImportsEnabled: boolean;
            delivery: {
                kind: string;
                baseUrl?: string;
                mapping?: {
                    [key: string]: {
                        [key: string]: string;
                    };
                };
                /** @description Names of the credentials that are set */
                credentials: string[];
            } | null;
            identity: {
                kind: string;
                baseUrl?: string;
                mapping?: {
                    [key: string]: {
                        [key: string]: string;
                    };
                };
                /** @description Names of the credentials that are set */
                credentials: string[];
            }[];
            payments: {
                kind: string;
                baseUrl?: string;
                mapping?: {
                    [key: string]: {
                        [key: string]: string;
                    };
                };
                /** @description Names of the credentials that are set */
                credentials: string[];
                acceptStoreToken: boolean;
            }[];
            notifications: {
                email?: string;
            };
            allowedAddresses: string[];
            requestsPerMinute: number | null;
            /** @description The two tokens in force, and those that were rotated out */
            webhookTokens: {
                /**
                 * @description events: the token of the store, which opens all webhooks; payments: the token in the address of payment-auth-completed, which opens only that
                 * @enum {string}
                 */
                for: "events" | "payments";
                current: boolean;
                /** Format: date-time */
                createdAt: string;
                /** Format: date-time */
                worksUntil: string | null;
                /** @description Uses since it was rotated out */
                uses: number;
                /** Format: date-time */
                lastUsedAt: string | null;
            }[];
            /**
             * @description unreadable: no key of SECRETS_KEY decrypts the credentials. Processing of this store waits until the key is back or all credentials are sent again
             * @enum {string}
             */
            credentialsState: "readable" | "unreadable";
            /** Format: date-time */
            createdAt: string;
            /** Format: date-time */
            updatedAt: string;
            /** @description Shown this once */
            webhookToken: string;
            /** @description The addresses to register at the providers, by event */
            webhookUrls: {
                order_updated: string;
                new_member: string;
                member_updated: string;
                job_assigned: string;
                job_started: string;
                job_arrived: string;
                job_completed: string;
                "identity-verification-updated": string;
                "identity-verification-completed": string;
                "payment-auth-completed": string;
            };
        };
        Store: {
            /** Format: uuid */
            id: string;
            name: string;
            storeUrl: string;
            pos: {
                kind: string;
                baseUrl?: string;
                mapping?: {
                    [key: string]: {
                        [key: string]: string;
                    };
                };
                /** @description Names of the credentials that are set */
                credentials: string[];
            };
            customerImportsEnabled: boolean;
            delivery: {
                kind: string;
                baseUrl?: string;
                mapping?: {
                    [key: string]: {
                        [key: string]: string;
                    };
                };
                /** @description Names of the credentials that are set */
                credentials: string[];
            } | null;
            identity: {
                kind: string;
                baseUrl?: string;
                mapping?: {
                    [key: string]: {
                        [key: string]: string;
                    };
                };
                /** @description Names of the credentials that are set */
                credentials: string[];
            }[];
            payments: {
                kind: string;
                baseUrl?: string;
                mapping?: {
                    [key: string]: {
                        [key: string]: string;
                    };
                };
                /** @description Names of the credentials that are set */
                credentials: string[];
                acceptStoreToken: boolean;
            }[];
            notifications: {
                email?: string;
            };
            allowedAddresses: string[];
            requestsPerMinute: number | null;
            /** @description The two tokens in force, and those that were rotated out */
            webhookTokens: {
                /**
                 * @description events: the token of the store, which opens all webhooks; payments: the token in the address of payment-auth-completed, which opens only that
                 * @enum {string}
                 */
                for: "events" | "payments";
                current: boolean;
                /** Format: date-time */
                createdAt: string;
                /** Format: date-time */
                worksUntil: string | null;
                /** @description Uses since it was rotated out */
                uses: number;
                /** Format: date-time */
                lastUsedAt: string | null;
            }[];
            /**
             * @description unreadable: no key of SECRETS_KEY decrypts the credentials. Processing of this store waits until the key is back or all credentials are sent again
             * @enum {string}
             */
            credentialsState: "readable" | "unreadable";
            /** Format: date-time */
            createdAt: string;
            /** Format: date-time */
            updatedAt: string;
        };
        ChangedStore: {
            /** Format: uuid */
            id: string;
            name: string;
            storeUrl: string;
            pos: {
                kind: string;
                baseUrl?: string;
                mapping?: {
                    [key: string]: {
                        [key: string]: string;
                    };
                };
                /** @description Names of the credentials that are set */
                credentials: string[];
            };
            customerImportsEnabled: boolean;
            delivery: {
                kind: string;
                baseUrl?: string;
                mapping?: {
                    [key: string]: {
                        [key: string]: string;
                    };
                };
                /** @description Names of the credentials that are set */
                credentials: string[];
            } | null;
            identity: {
                kind: string;
                baseUrl?: string;
                mapping?: {
                    [key: string]: {
                        [key: string]: string;
                    };
                };
                /** @description Names of the credentials that are set */
                credentials: string[];
            }[];
            payments: {
                kind: string;
                baseUrl?: string;
                mapping?: {
                    [key: string]: {
                        [key: string]: string;
                    };
                };
                /** @description Names of the credentials that are set */
                credentials: string[];
                acceptStoreToken: boolean;
            }[];
            notifications: {
                email?: string;
            };
            allowedAddresses: string[];
            requestsPerMinute: number | null;
            /** @description The two tokens in force, and those that were rotated out */
            webhookTokens: {
                /**
                 * @description events: the token of the store, which opens all webhooks; payments: the token in the address of payment-auth-completed, which opens only that
                 * @enum {string}
                 */
                for: "events" | "payments";
                current: boolean;
                /** Format: date-time */
                createdAt: string;
                /** Format: date-time */
                worksUntil: string | null;
                /** @description Uses since it was rotated out */
                uses: number;
                /** Format: date-time */
                lastUsedAt: string | null;
            }[];
            /**
             * @description unreadable: no key of SECRETS_KEY decrypts the credentials. Processing of this store waits until the key is back or all credentials are sent again
             * @enum {string}
             */
            credentialsState: "readable" | "unreadable";
            /** Format: date-time */
            createdAt: string;
            /** Format: date-time */
            updatedAt: string;
            /** @description Credentials that this change removed, such as pos.apiKey: those of a provider whose kind or whose origin of baseUrl changed, unless they were sent with it */
            clearedCredentials: string[];
        };
        RotatedToken: {
            /** @description Shown this once */
            webhookToken: string;
            /** @description The addresses with the new token: those of the other token stay as they are */
            webhookUrls: {
                order_updated?: string;
                new_member?: string;
                member_updated?: string;
                job_assigned?: string;
                job_started?: string;
                job_arrived?: string;
                job_completed?: string;
                "identity-verification-updated"?: string;
                "identity-verification-completed"?: string;
                "payment-auth-completed"?: string;
            };
            /** Format: date-time */
            previousWorksUntil: string;
        };
        User: {
            /**
             * Format: uuid
             * @description Only in a list of all stores
             */
            storeId?: string;
            /** Format: uuid */
            id: string;
            consumerUserId: string;
            email: string | null;
            firstName: string | null;
            lastName: string | null;
            phone: string | null;
            /**
             * Format: date-time
             * @description When the POS last sent something new
             */
            refreshedAt: string | null;
            /** Format: date-time */
            createdAt: string;
        };
        Notification: {
            /**
             * Format: uuid
             * @description Only in a list of all stores
             */
            storeId?: string;
            /** Format: uuid */
            id: string;
            /** @enum {string} */
            kind: "order" | "member" | "delivery" | "verification";
            /** @enum {string} */
            audience: "customer" | "store";
            subject: string;
            /** @description The order, member or job it is about */
            reference: string | null;
            /** Format: uuid */
            eventId: string | null;
            /**
             * @description off: no mail server was configured; no_address: the recipient has no address
             * @enum {string}
             */
            mail: "off" | "pending" | "sent" | "no_address" | "failed";
            /** Format: date-time */
            createdAt: string;
            /**
             * Format: date-time
             * @description When it was sent last
             */
            sentAt: string | null;
        };
        Order: {
            /**
             * Format: uuid
             * @description Only in a list of all stores
             */
            storeId?: string;
            /** @description The id that the POS gave */
            id: string;
            orderNo: string | null;
            status: string;
            consumerId: string | null;
            memo: string | null;
            rewardName: string | null;
            publicKey: string | null;
            memberGroup: string | null;
            trackingStatus: string | null;
            currency: string;
            cart: {
                subTotal: number | null;
                discount: number | null;
                totalDiscount: number | null;
                deliveryFee: number | null;
                creditCardFee: number | null;
                total: number | null;
                taxTotal: number | null;
                totalCalcTax: number | null;
                promoCode: string | null;
                items: {
                    productId: string | null;
                    productName: string | null;
                    quantity: number;
                    price: number | null;
                    totalPrice: number | null;
                }[];
            };
            /** Format: date-time */
            updatedAt: string;
        };
        Member: {
            /**
             * Format: uuid
             * @description Only in a list of all stores
             */
            storeId?: string;
            /** @description The id that the POS gave */
            id: string;
            email: string | null;
            firstName: string | null;
            lastName: string | null;
            phone: string | null;
            status: string | null;
            type: string | null;
            /** Format: date-time */
            updatedAt: string;
            modified: number | null;
        };
        ImportJob: {
            /**
             * Format: uuid
             * @description Only in a list of all stores
             */
            storeId?: string;
            /** Format: uuid */
            id: string;
            memberId: string;
            /** @enum {string} */
            state: "pending" | "done" | "failed";
            attempts: number;
            error: string | null;
            /** Format: uuid */
            userId: string | null;
            /** Format: date-time */
            createdAt: string;
            /** Format: date-time */
            finishedAt: string | null;
        };
        DeliveryJob: {
            /**
             * Format: uuid
             * @description Only in a list of all stores
             */
            storeId?: string;
            /** @description The id that the POS gave */
            id: string;
            orderId: string | null;
            /** @description As the provider named it */
            status: string | null;
            driverId: string | null;
            /** Format: date-time */
            estimatedArrival: string | null;
            /** Format: date-time */
            assignedAt: string | null;
            /** Format: date-time */
            startedAt: string | null;
            /** Format: date-time */
            arrivedAt: string | null;
            /** Format: date-time */
            completedAt: string | null;
            /**
             * Format: date-time
             * @description When it was cancelled or failed
             */
            endedAt: string | null;
            /** Format: date-time */
            laterStageAt: string | null;
            /** Format: date-time */
            updatedAt: string;
            /**
             * @description Never moves back, and the first of the last three stays; the last two end it without a delivery
             * @enum {string}
             */
            stage: "assigned" | "started" | "arrived" | "completed" | "cancelled" | "failed";
            /**
             * @description Another end that the provider reported after this one
             * @enum {string|null}
             */
            laterStage: "completed" | "cancelled" | "failed" | null;
            driverLocation: {
                lat: number;
                lng: number;
            } | null;
        };
        Verification: {
            /**
             * Format: uuid
             * @description Only in a list of all stores
             */
            storeId?: string;
            service: string;
            transactionId: string;
            /** @description As the provider named it */
            status: string;
            completed: boolean;
            userId: string | null;
            /** Format: date-time */
            updatedAt: string;
        };
        RegisteredPayment: {
            /**
             * Format: uuid
             * @description Only in a list of all stores
             */
            storeId?: string;
            service: string;
            transactionId: string;
            orderId: string;
            threeDSServerTransId: string | null;
            /** Format: date-time */
            createdAt: string;
        };
        EventReveal: {
            /**
             * Format: uuid
             * @description Only in a list of all stores
             */
            storeId?: string;
            /** Format: uuid */
            id: string;
            /** Format: uuid */
            eventId: string;
            /**
             * @description body: the whole body was shown; search: a search for a value found the event
             * @enum {string}
             */
            kind: "body" | "search";
            /** @description Subject of the access token */
            revealedBy: string;
            /** @description Made for the record; a line of the log has it as `recordedAs`, beside the X-Request-Id that the caller sent */
            requestId: string;
            /** Format: date-time */
            revealedAt: string;
        };
        StoreChange: {
            /**
             * Format: uuid
             * @description Only in a list of all stores
             */
            storeId?: string;
            /** Format: uuid */
            id: string;
            /** @description Subject of the access token */
            changedBy: string;
            /** Format: date-time */
            changedAt: string;
            /** @description Name, address and settings before the change, without credentials */
            before: {
                [key: string]: unknown;
            };
            after: {
                [key: string]: unknown;
            };
        };
        Replayed: {
            /** @description Events that will be processed again */
            replayed: number;
            /**
             * Format: uuid
             * @description Null: all events of the span were visited. Otherwise repeat the request with this value as `after`
             */
            next: string | null;
        };
        Replay: {
            /** Format: uuid */
            eventId: string;
            dryRun: boolean;
            /** @description Only of a dry run: the records that would change, as their addresses show them, without personal data. before is null if the record does not exist yet */
            changes?: {
                /** @description Such as order/o-1 */
                record: string;
                before: unknown;
                after: unknown;
            }[];
            notifications?: string[];
            error?: string;
        };
        Rechecked: {
            /** @description Refused events whose signatures were verified again */
            checked: number;
            /** @description Events that passed and will be processed */
            accepted: number;
            /** @description Events that cannot be verified, because no key of SECRETS_KEY decrypts their addresses */
            failed: number;
            /**
             * Format: uuid
             * @description Null: all events of the span were visited. Otherwise repeat the request with this value as `after`
             */
            next: string | null;
        };
        Recheck: {
            /** Format: uuid */
            eventId: string;
            /**
             * @description pending: the signature is valid now, the event will be processed; failed: it is valid, but the body is not readable; ignored: the same event was accepted meanwhile; refused: as before
             * @enum {string}
             */
            status: "pending" | "failed" | "refused" | "ignored";
        };
        Event: {
            /**
             * Format: uuid
             * @description Only in a list of all stores
             */
            storeId?: string;
            /** Format: uuid */
            id: string;
            event: string;
            service: string | null;
            /** @description The entity that the event is about; events of one entity are processed one after the other */
            entity: string | null;
            /**
             * @description pending: to be processed, or to be retried; failed: not retried any more; refused: the signature is not valid; ignored: not processed by this service
             * @enum {string}
             */
            status: "pending" | "done" | "failed" | "refused" | "ignored";
            attempts: number;
            error: string | null;
            /** Format: date-time */
            receivedAt: string;
            /** Format: date-time */
            nextAttemptAt: string | null;
            /** Format: date-time */
            finishedAt: string | null;
        };
        EventDetail: {
            /**
             * Format: uuid
             * @description Only in a list of all stores
             */
            storeId?: string;
            /** Format: uuid */
            id: string;
            event: string;
            service: string | null;
            /** @description The entity that the event is about; events of one entity are processed one after the other */
            entity: string | null;
            /**
             * @description pending: to be processed, or to be retried; failed: not retried any more; refused: the signature is not valid; ignored: not processed by this service
             * @enum {string}
             */
            status: "pending" | "done" | "failed" | "refused" | "ignored";
            attempts: number;
            error: string | null;
            /** Format: date-time */
            receivedAt: string;
            /** Format: date-time */
            nextAttemptAt: string | null;
            /** Format: date-time */
            finishedAt: string | null;
            headers: {
                [key: string]: string;
            };
            bytes: number;
            /** @description The body; fields are masked unless the provider is known to send nothing personal or secret in them. Null: it cannot be parsed */
            body: unknown;
            /** @description The records that the event changed, once it is done, and the notifications and events of the same entity */
            links: {
                /** @enum {string} */
                rel: "order" | "member" | "delivery-job" | "verification" | "payment" | "notifications" | "events";
                href: string;
            }[];
            /** @description Whether the body is shown without masking */
            revealed: boolean;
        };
    };
    responses: never;
    parameters: never;
    requestBodies: never;
    headers: never;
    pathItems: never;
}
export type $defs = Record<string, never>;
export interface operations {
    check_order_updated: {
        parameters: {
            query?: {
                /** @description Returned as it is; without it the answer is 405 */
                check?: string;
            };
            header?: never;
            path: {
                /** @description A webhook token of the store */
                token: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The value */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "text/plain": string;
                };
            };
            /** @description The request is malformed or a value is out of range */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description The path takes other methods */
            405: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Too many requests */
            429: {
                headers: {
                    /** @description Seconds to wait before the next attempt */
                    "Retry-After"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Unexpected error */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description The service or a dependency is unavailable; try again later */
            503: {
                headers: {
                    /** @description Seconds to wait before the next attempt */
                    "Retry-After"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    receive_order_updated: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description A webhook token of the store */
                token: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "id": "demo-order-1",
                 *       "orderNo": "1001",
                 *       "status": "PENDING",
                 *       "consumerId": "demo-member-1",
                 *       "cart": {
                 *         "total": 25,
                 *         "items": [
                 *           {
                 *             "productId": "p-1",
                 *             "productName": "Tea",
                 *             "quantity": 2,
                 *             "price": 12.5,
                 *             "totalPrice": 25
                 *           }
                 *         ]
                 *       }
                 *     }
                 */
                "application/json": components["schemas"]["OrderPayload"] | components["schemas"]["SquareOrderEvent"] | {
                    [key: string]: unknown;
                };
                "application/x-www-form-urlencoded": components["schemas"]["WebhookForm"];
            };
        };
        responses: {
            /** @description Stored, or a duplicate */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": Record<string, never>;
                };
            };
            /** @description The request is malformed or a value is out of range */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description The caller may not do this */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description The resource does not exist */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description The body is too large */
            413: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Too many requests */
            429: {
                headers: {
                    /** @description Seconds to wait before the next attempt */
                    "Retry-After"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Unexpected error */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description The service or a dependency is unavailable; try again later */
            503: {
                headers: {
                    /** @description Seconds to wait before the next attempt */
                    "Retry-After"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    check_new_member: {
        parameters: {
            query?: {
                /** @description Returned as it is; without it the answer is 405 */
                check?: string;
            };
            header?: never;
            path: {
                /** @description A webhook token of the store */
                token: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The value */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "text/plain": string;
                };
            };
            /** @description The request is malformed or a value is out of range */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description The path takes other methods */
            405: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Too many requests */
            429: {
                headers: {
                    /** @description Seconds to wait before the next attempt */
                    "Retry-After"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Unexpected error */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description The service or a dependency is unavailable; try again later */
            503: {
                headers: {
                    /** @description Seconds to wait before the next attempt */
                    "Retry-After"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    receive_new_member: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description A webhook token of the store */
                token: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["MemberPayload"] | components["schemas"]["SquareCustomerEvent"] | {
                    [key: string]: unknown;
                };
                "application/x-www-form-urlencoded": components["schemas"]["WebhookForm"];
            };
        };
        responses: {
            /** @description Stored, or a duplicate */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": Record<string, never>;
                };
            };
            /** @description The request is malformed or a value is out of range */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description The caller may not do this */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description The resource does not exist */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description The body is too large */
            413: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Too many requests */
            429: {
                headers: {
                    /** @description Seconds to wait before the next attempt */
                    "Retry-After"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Unexpected error */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description The service or a dependency is unavailable; try again later */
            503: {
                headers: {
                    /** @description Seconds to wait before the next attempt */
                    "Retry-After"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    check_member_updated: {
        parameters: {
            query?: {
                /** @description Returned as it is; without it the answer is 405 */
                check?: string;
            };
            header?: never;
            path: {
                /** @description A webhook token of the store */
                token: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The value */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "text/plain": string;
                };
            };
            /** @description The request is malformed or a value is out of range */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description The path takes other methods */
            405: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Too many requests */
            429: {
                headers: {
                    /** @description Seconds to wait before the next attempt */
                    "Retry-After"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Unexpected error */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description The service or a dependency is unavailable; try again later */
            503: {
                headers: {
                    /** @description Seconds to wait before the next attempt */
                    "Retry-After"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    receive_member_updated: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description A webhook token of the store */
                token: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["MemberPayload"] | components["schemas"]["SquareCustomerEvent"] | {
                    [key: string]: unknown;
                };
                "application/x-www-form-urlencoded": components["schemas"]["WebhookForm"];
            };
        };
        responses: {
            /** @description Stored, or a duplicate */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": Record<string, never>;
                };
            };
            /** @description The request is malformed or a value is out of range */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description The caller may not do this */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description The resource does not exist */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description The body is too large */
            413: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Too many requests */
            429: {
                headers: {
                    /** @description Seconds to wait before the next attempt */
                    "Retry-After"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Unexpected error */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description The service or a dependency is unavailable; try again later */
            503: {
                headers: {
                    /** @description Seconds to wait before the next attempt */
                    "Retry-After"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    check_job_assigned: {
        parameters: {
            query?: {
                /** @description Returned as it is; without it the answer is 405 */
                check?: string;
            };
            header?: never;
            path: {
                /** @description A webhook token of the store */
                token: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The value */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "text/plain": string;
                };
            };
            /** @description The request is malformed or a value is out of range */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description The path takes other methods */
            405: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Too many requests */
            429: {
                headers: {
                    /** @description Seconds to wait before the next attempt */
                    "Retry-After"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Unexpected error */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description The service or a dependency is unavailable; try again later */
            503: {
                headers: {
                    /** @description Seconds to wait before the next attempt */
                    "Retry-After"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    receive_job_assigned: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description A webhook token of the store */
                token: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["DeliveryJobPayload"] | components["schemas"]["OnfleetTrigger"] | components["schemas"]["DoorDashEvent"] | {
                    [key: string]: unknown;
                };
                "application/x-www-form-urlencoded": components["schemas"]["WebhookForm"];
            };
        };
        responses: {
            /** @description Stored, or a duplicate */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": Record<string, never>;
                };
            };
            /** @description The request is malformed or a value is out of range */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description The caller may not do this */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description The resource does not exist */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description The body is too large */
            413: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Too many requests */
            429: {
                headers: {
                    /** @description Seconds to wait before the next attempt */
                    "Retry-After"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Unexpected error */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description The service or a dependency is unavailable; try again later */
            503: {
                headers: {
                    /** @description Seconds to wait before the next attempt */
                    "Retry-After"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    check_job_started: {
        parameters: {
            query?: {
                /** @description Returned as it is; without it the answer is 405 */
                check?: string;
            };
            header?: never;
            path: {
                /** @description A webhook token of the store */
                token: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The value */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "text/plain": string;
                };
            };
            /** @description The request is malformed or a value is out of range */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description The path takes other methods */
            405: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Too many requests */
            429: {
                headers: {
                    /** @description Seconds to wait before the next attempt */
                    "Retry-After"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Unexpected error */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description The service or a dependency is unavailable; try again later */
            503: {
                headers: {
                    /** @description Seconds to wait before the next attempt */
                    "Retry-After"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    receive_job_started: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description A webhook token of the store */
                token: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["DeliveryJobPayload"] | components["schemas"]["OnfleetTrigger"] | components["schemas"]["DoorDashEvent"] | {
                    [key: string]: unknown;
                };
                "application/x-www-form-urlencoded": components["schemas"]["WebhookForm"];
            };
        };
        responses: {
            /** @description Stored, or a duplicate */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": Record<string, never>;
                };
            };
            /** @description The request is malformed or a value is out of range */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description The caller may not do this */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description The resource does not exist */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description The body is too large */
            413: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Too many requests */
            429: {
                headers: {
                    /** @description Seconds to wait before the next attempt */
                    "Retry-After"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Unexpected error */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description The service or a dependency is unavailable; try again later */
            503: {
                headers: {
                    /** @description Seconds to wait before the next attempt */
                    "Retry-After"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    check_job_arrived: {
        parameters: {
            query?: {
                /** @description Returned as it is; without it the answer is 405 */
                check?: string;
            };
            header?: never;
            path: {
                /** @description A webhook token of the store */
                token: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The value */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "text/plain": string;
                };
            };
            /** @description The request is malformed or a value is out of range */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description The path takes other methods */
            405: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Too many requests */
            429: {
                headers: {
                    /** @description Seconds to wait before the next attempt */
                    "Retry-After"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Unexpected error */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description The service or a dependency is unavailable; try again later */
            503: {
                headers: {
                    /** @description Seconds to wait before the next attempt */
                    "Retry-After"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    receive_job_arrived: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description A webhook token of the store */
                token: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["DeliveryJobPayload"] | components["schemas"]["OnfleetTrigger"] | components["schemas"]["DoorDashEvent"] | {
                    [key: string]: unknown;
                };
                "application/x-www-form-urlencoded": components["schemas"]["WebhookForm"];
            };
        };
        responses: {
            /** @description Stored, or a duplicate */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": Record<string, never>;
                };
            };
            /** @description The request is malformed or a value is out of range */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description The caller may not do this */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description The resource does not exist */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description The body is too large */
            413: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Too many requests */
            429: {
                headers: {
                    /** @description Seconds to wait before the next attempt */
                    "Retry-After"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Unexpected error */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description The service or a dependency is unavailable; try again later */
            503: {
                headers: {
                    /** @description Seconds to wait before the next attempt */
                    "Retry-After"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    check_job_completed: {
        parameters: {
            query?: {
                /** @description Returned as it is; without it the answer is 405 */
                check?: string;
            };
            header?: never;
            path: {
                /** @description A webhook token of the store */
                token: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The value */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "text/plain": string;
                };
            };
            /** @description The request is malformed or a value is out of range */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description The path takes other methods */
            405: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Too many requests */
            429: {
                headers: {
                    /** @description Seconds to wait before the next attempt */
                    "Retry-After"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Unexpected error */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description The service or a dependency is unavailable; try again later */
            503: {
                headers: {
                    /** @description Seconds to wait before the next attempt */
                    "Retry-After"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    receive_job_completed: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description A webhook token of the store */
                token: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["DeliveryJobPayload"] | components["schemas"]["OnfleetTrigger"] | components["schemas"]["DoorDashEvent"] | {
                    [key: string]: unknown;
                };
                "application/x-www-form-urlencoded": components["schemas"]["WebhookForm"];
            };
        };
        responses: {
            /** @description Stored, or a duplicate */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": Record<string, never>;
                };
            };
            /** @description The request is malformed or a value is out of range */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description The caller may not do this */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description The resource does not exist */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description The body is too large */
            413: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Too many requests */
            429: {
                headers: {
                    /** @description Seconds to wait before the next attempt */
                    "Retry-After"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Unexpected error */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description The service or a dependency is unavailable; try again later */
            503: {
                headers: {
                    /** @description Seconds to wait before the next attempt */
                    "Retry-After"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    check_identity_verification_updated: {
        parameters: {
            query?: {
                /** @description Returned as it is; without it the answer is 405 */
                check?: string;
            };
            header?: never;
            path: {
                /** @description The provider, such as persona */
                service: string;
                /** @description A webhook token of the store */
                token: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The value */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "text/plain": string;
                };
            };
            /** @description The request is malformed or a value is out of range */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description The path takes other methods */
            405: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Too many requests */
            429: {
                headers: {
                    /** @description Seconds to wait before the next attempt */
                    "Retry-After"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Unexpected error */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description The service or a dependency is unavailable; try again later */
            503: {
                headers: {
                    /** @description Seconds to wait before the next attempt */
                    "Retry-After"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    receive_identity_verification_updated: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The provider, such as persona */
                service: string;
                /** @description A webhook token of the store */
                token: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["VerificationPayload"] | components["schemas"]["PersonaInquiryEvent"] | components["schemas"]["VeriffDecision"] | components["schemas"]["VeriffEvent"] | components["schemas"]["VeriffFullAuto"] | {
                    [key: string]: unknown;
                };
                "application/x-www-form-urlencoded": components["schemas"]["WebhookForm"];
            };
        };
        responses: {
            /** @description Stored, or a duplicate */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": Record<string, never>;
                };
            };
            /** @description The request is malformed or a value is out of range */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description The caller may not do this */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description The resource does not exist */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description The body is too large */
            413: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Too many requests */
            429: {
                headers: {
                    /** @description Seconds to wait before the next attempt */
                    "Retry-After"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Unexpected error */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description The service or a dependency is unavailable; try again later */
            503: {
                headers: {
                    /** @description Seconds to wait before the next attempt */
                    "Retry-After"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    check_identity_verification_completed: {
        parameters: {
            query?: {
                /** @description Returned as it is; without it the answer is 405 */
                check?: string;
            };
            header?: never;
            path: {
                /** @description The provider, such as persona */
                service: string;
                /** @description A webhook token of the store */
                token: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The value */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "text/plain": string;
                };
            };
            /** @description The request is malformed or a value is out of range */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description The path takes other methods */
            405: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Too many requests */
            429: {
                headers: {
                    /** @description Seconds to wait before the next attempt */
                    "Retry-After"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Unexpected error */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description The service or a dependency is unavailable; try again later */
            503: {
                headers: {
                    /** @description Seconds to wait before the next attempt */
                    "Retry-After"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    receive_identity_verification_completed: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The provider, such as persona */
                service: string;
                /** @description A webhook token of the store */
                token: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["VerificationPayload"] | components["schemas"]["PersonaInquiryEvent"] | components["schemas"]["VeriffDecision"] | components["schemas"]["VeriffEvent"] | components["schemas"]["VeriffFullAuto"] | {
                    [key: string]: unknown;
                };
                "application/x-www-form-urlencoded": components["schemas"]["WebhookForm"];
            };
        };
        responses: {
            /** @description Stored, or a duplicate */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": Record<string, never>;
                };
            };
            /** @description The request is malformed or a value is out of range */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description The caller may not do this */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description The resource does not exist */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description The body is too large */
            413: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Too many requests */
            429: {
                headers: {
                    /** @description Seconds to wait before the next attempt */
                    "Retry-After"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Unexpected error */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description The service or a dependency is unavailable; try again later */
            503: {
                headers: {
                    /** @description Seconds to wait before the next attempt */
                    "Retry-After"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    check_payment_auth_completed: {
        parameters: {
            query?: {
                /** @description Returned as it is; without it the answer is 405 */
                check?: string;
            };
            header?: never;
            path: {
                /** @description The provider, such as persona */
                service: string;
                /** @description A webhook token of the store */
                token: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The value */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "text/plain": string;
                };
            };
            /** @description The request is malformed or a value is out of range */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description The path takes other methods */
            405: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Too many requests */
            429: {
                headers: {
                    /** @description Seconds to wait before the next attempt */
                    "Retry-After"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Unexpected error */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description The service or a dependency is unavailable; try again later */
            503: {
                headers: {
                    /** @description Seconds to wait before the next attempt */
                    "Retry-After"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    receive_payment_auth_completed: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The provider, such as persona */
                service: string;
                /** @description A webhook token of the store */
                token: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["PaymentAuthPayload"] | {
                    [key: string]: unknown;
                };
                "application/x-www-form-urlencoded": components["schemas"]["PaymentAuthForm"];
            };
        };
        responses: {
            /** @description Stored, or a duplicate */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": Record<string, never>;
                };
            };
            /** @description The browser continues on the verification page of the shop, for success or failure */
            302: {
                headers: {
                    /** @description Page of the shop */
                    Location?: string;
                    [name: string]: unknown;
                };
                content?: never;
            };
            /** @description The request is malformed or a value is out of range */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description The caller may not do this */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description The resource does not exist */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description The body is too large */
            413: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Too many requests */
            429: {
                headers: {
                    /** @description Seconds to wait before the next attempt */
                    "Retry-After"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Unexpected error */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description The service or a dependency is unavailable; try again later */
            503: {
                headers: {
                    /** @description Seconds to wait before the next attempt */
                    "Retry-After"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    listStores: {
        parameters: {
            query?: {
                /** @description Number of the page, from 1 */
                page?: number;
                /** @description Items per page */
                limit?: number;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description A page */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        stores: components["schemas"]["Store"][];
                        page: {
                            /** @description The page that was asked for */
                            number: number;
                            /** @description Whether more pages follow */
                            has_more: boolean;
                            /** @description Items per page */
                            limit: number;
                        };
                    };
                };
            };
            /** @description The request is malformed or a value is out of range */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description No valid credential */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description The credential lacks the scope stores:admin */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Too many requests */
            429: {
                headers: {
                    /** @description Seconds to wait before the next attempt */
                    "Retry-After"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Unexpected error */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description The service or a dependency is unavailable; try again later */
            503: {
                headers: {
                    /** @description Seconds to wait before the next attempt */
                    "Retry-After"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    createStore: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": {
                    name: string;
                    /**
                     * Format: uri
                     * @description Address of the shop; redirects lead only there
                     */
                    storeUrl: string;
                    pos: {
                        /** @enum {string} */
                        kind: "blaze" | "square" | "generic";
                        /** Format: uri */
                        baseUrl?: string;
                        /** @description Kept encrypted and never returned. A change without them keeps the stored ones, unless the kind or the origin of baseUrl changes. A change with them replaces all stored ones: without webhookSecret, signatures are no longer checked */
                        credentials?: {
                            [key: string]: string;
                        };
                        /** @description For the generic kind: record → field → JSON pointer into the payload */
                        mapping?: {
                            [key: string]: {
                                [key: string]: string;
                            };
                        };
                    };
                    /** @default false */
                    customerImportsEnabled?: boolean;
                    delivery?: {
                        /** @enum {string} */
                        kind: "pos" | "onfleet" | "doordash";
                        /** Format: uri */
                        baseUrl?: string;
                        /** @description Kept encrypted and never returned. A change without them keeps the stored ones, unless the kind or the origin of baseUrl changes. A change with them replaces all stored ones: without webhookSecret, signatures are no longer checked */
                        credentials?: {
                            [key: string]: string;
                        };
                        /** @description For the generic kind: record → field → JSON pointer into the payload */
                        mapping?: {
                            [key: string]: {
                                [key: string]: string;
                            };
                        };
                    };
                    identity?: {
                        /** @enum {string} */
                        kind: "persona" | "veriff";
                        /** Format: uri */
                        baseUrl?: string;
                        /** @description Kept encrypted and never returned. A change without them keeps the stored ones, unless the kind or the origin of baseUrl changes. A change with them replaces all stored ones: without webhookSecret, signatures are no longer checked */
                        credentials?: {
                            [key: string]: string;
                        };
                        /** @description For the generic kind: record → field → JSON pointer into the payload */
                        mapping?: {
                            [key: string]: {
                                [key: string]: string;
                            };
                        };
                    } | {
                        /** @enum {string} */
                        kind: "persona" | "veriff";
                        /** Format: uri */
                        baseUrl?: string;
                        /** @description Kept encrypted and never returned. A change without them keeps the stored ones, unless the kind or the origin of baseUrl changes. A change with them replaces all stored ones: without webhookSecret, signatures are no longer checked */
                        credentials?: {
                            [key: string]: string;
                        };
                        /** @description For the generic kind: record → field → JSON pointer into the payload */
                        mapping?: {
                            [key: string]: {
                                [key: string]: string;
                            };
                        };
                    }[];
                    payments?: {
                        /** @enum {string} */
                        kind: "threedsecureio" | "netcetera";
                        /** Format: uri */
                        baseUrl?: string;
                        /** @description Kept encrypted and never returned. A change without them keeps the stored ones, unless the kind or the origin of baseUrl changes. A change with them replaces all stored ones: without webhookSecret, signatures are no longer checked */
                        credentials?: {
                            [key: string]: string;
                        };
                        /** @description For the generic kind: record → field → JSON pointer into the payload */
                        mapping?: {
                            [key: string]: {
                                [key: string]: string;
                            };
                        };
                        /** @description Whether payment-auth-completed is also opened by the token of the other events; true at first. False at one provider forbids it for all */
                        acceptStoreToken?: boolean;
                    } | {
                        /** @enum {string} */
                        kind: "threedsecureio" | "netcetera";
                        /** Format: uri */
                        baseUrl?: string;
                        /** @description Kept encrypted and never returned. A change without them keeps the stored ones, unless the kind or the origin of baseUrl changes. A change with them replaces all stored ones: without webhookSecret, signatures are no longer checked */
                        credentials?: {
                            [key: string]: string;
                        };
                        /** @description For the generic kind: record → field → JSON pointer into the payload */
                        mapping?: {
                            [key: string]: {
                                [key: string]: string;
                            };
                        };
                        /** @description Whether payment-auth-completed is also opened by the token of the other events; true at first. False at one provider forbids it for all */
                        acceptStoreToken?: boolean;
                    }[];
                    notifications?: {
                        /** Format: email */
                        email?: string;
                    };
                    /** @description Addresses and networks (CIDR) webhooks may come from; empty: any */
                    allowedAddresses?: string[];
                    requestsPerMinute?: number | null;
                };
            };
        };
        responses: {
            /** @description The store */
            201: {
                headers: {
                    /** @description Its address */
                    Location?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["NewStore"];
                };
            };
            /** @description The request is malformed or a value is out of range */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description No valid credential */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description The credential lacks the scope stores:admin */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description The body is too large */
            413: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description The media type is not supported */
            415: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Too many requests */
            429: {
                headers: {
                    /** @description Seconds to wait before the next attempt */
                    "Retry-After"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Unexpected error */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description The service or a dependency is unavailable; try again later */
            503: {
                headers: {
                    /** @description Seconds to wait before the next attempt */
                    "Retry-After"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    getStore: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The store */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The store */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Store"];
                };
            };
            /** @description The request is malformed or a value is out of range */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description No valid credential */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description The credential lacks the scope stores:admin */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description The resource does not exist */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Too many requests */
            429: {
                headers: {
                    /** @description Seconds to wait before the next attempt */
                    "Retry-After"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Unexpected error */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description The service or a dependency is unavailable; try again later */
            503: {
                headers: {
                    /** @description Seconds to wait before the next attempt */
                    "Retry-After"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    changeStore: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The store */
                id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": {
                    name?: string;
                    /**
                     * Format: uri
                     * @description Address of the shop; redirects lead only there
                     */
                    storeUrl?: string;
                    pos?: {
                        /** @enum {string} */
                        kind: "blaze" | "square" | "generic";
                        /** Format: uri */
                        baseUrl?: string;
                        /** @description Kept encrypted and never returned. A change without them keeps the stored ones, unless the kind or the origin of baseUrl changes. A change with them replaces all stored ones: without webhookSecret, signatures are no longer checked */
                        credentials?: {
                            [key: string]: string;
                        };
                        /** @description For the generic kind: record → field → JSON pointer into the payload */
                        mapping?: {
                            [key: string]: {
                                [key: string]: string;
                            };
                        };
                    };
                    customerImportsEnabled?: boolean;
                    delivery?: {
                        /** @enum {string} */
                        kind: "pos" | "onfleet" | "doordash";
                        /** Format: uri */
                        baseUrl?: string;
                        /** @description Kept encrypted and never returned. A change without them keeps the stored ones, unless the kind or the origin of baseUrl changes. A change with them replaces all stored ones: without webhookSecret, signatures are no longer checked */
                        credentials?: {
                            [key: string]: string;
                        };
                        /** @description For the generic kind: record → field → JSON pointer into the payload */
                        mapping?: {
                            [key: string]: {
                                [key: string]: string;
                            };
                        };
                    } | null;
                    identity?: {
                        /** @enum {string} */
                        kind: "persona" | "veriff";
                        /** Format: uri */
                        baseUrl?: string;
                        /** @description Kept encrypted and never returned. A change without them keeps the stored ones, unless the kind or the origin of baseUrl changes. A change with them replaces all stored ones: without webhookSecret, signatures are no longer checked */
                        credentials?: {
                            [key: string]: string;
                        };
                        /** @description For the generic kind: record → field → JSON pointer into the payload */
                        mapping?: {
                            [key: string]: {
                                [key: string]: string;
                            };
                        };
                    } | {
                        /** @enum {string} */
                        kind: "persona" | "veriff";
                        /** Format: uri */
                        baseUrl?: string;
                        /** @description Kept encrypted and never returned. A change without them keeps the stored ones, unless the kind or the origin of baseUrl changes. A change with them replaces all stored ones: without webhookSecret, signatures are no longer checked */
                        credentials?: {
                            [key: string]: string;
                        };
                        /** @description For the generic kind: record → field → JSON pointer into the payload */
                        mapping?: {
                            [key: string]: {
                                [key: string]: string;
                            };
                        };
                    }[];
                    payments?: {
                        /** @enum {string} */
                        kind: "threedsecureio" | "netcetera";
                        /** Format: uri */
                        baseUrl?: string;
                        /** @description Kept encrypted and never returned. A change without them keeps the stored ones, unless the kind or the origin of baseUrl changes. A change with them replaces all stored ones: without webhookSecret, signatures are no longer checked */
                        credentials?: {
                            [key: string]: string;
                        };
                        /** @description For the generic kind: record → field → JSON pointer into the payload */
                        mapping?: {
                            [key: string]: {
                                [key: string]: string;
                            };
                        };
                        /** @description Whether payment-auth-completed is also opened by the token of the other events; true at first. False at one provider forbids it for all */
                        acceptStoreToken?: boolean;
                    } | {
                        /** @enum {string} */
                        kind: "threedsecureio" | "netcetera";
                        /** Format: uri */
                        baseUrl?: string;
                        /** @description Kept encrypted and never returned. A change without them keeps the stored ones, unless the kind or the origin of baseUrl changes. A change with them replaces all stored ones: without webhookSecret, signatures are no longer checked */
                        credentials?: {
                            [key: string]: string;
                        };
                        /** @description For the generic kind: record → field → JSON pointer into the payload */
                        mapping?: {
                            [key: string]: {
                                [key: string]: string;
                            };
                        };
                        /** @description Whether payment-auth-completed is also opened by the token of the other events; true at first. False at one provider forbids it for all */
                        acceptStoreToken?: boolean;
                    }[];
                    notifications?: {
                        /** Format: email */
                        email?: string;
                    };
                    /** @description Addresses and networks (CIDR) webhooks may come from; empty: any */
                    allowedAddresses?: string[];
                    requestsPerMinute?: number | null;
                };
            };
        };
        responses: {
            /** @description The store */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ChangedStore"];
                };
            };
            /** @description The request is malformed or a value is out of range */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description No valid credential */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description The credential lacks the scope stores:admin */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description The resource does not exist */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description The body is too large */
            413: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description The media type is not supported */
            415: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Too many requests */
            429: {
                headers: {
                    /** @description Seconds to wait before the next attempt */
                    "Retry-After"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Unexpected error */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description The service or a dependency is unavailable; try again later */
            503: {
                headers: {
                    /** @description Seconds to wait before the next attempt */
                    "Retry-After"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    rotateWebhookToken: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The store */
                id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": {
                    /**
                     * @description How long the old token still works
                     * @default 3600
                     */
                    graceSeconds?: number;
                    /**
                     * @description events: the token of the store, which opens all webhooks; payments: the token in the address of payment-auth-completed, which opens only that
                     * @default events
                     * @enum {string}
                     */
                    for?: "events" | "payments";
                };
            };
        };
        responses: {
            /** @description The new token, shown this once */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["RotatedToken"];
                };
            };
            /** @description The request is malformed or a value is out of range */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description No valid credential */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description The credential lacks the scope stores:admin */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description The resource does not exist */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description The body is too large */
            413: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description The media type is not supported */
            415: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Too many requests */
            429: {
                headers: {
                    /** @description Seconds to wait before the next attempt */
                    "Retry-After"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Unexpected error */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description The service or a dependency is unavailable; try again later */
            503: {
                headers: {
                    /** @description Seconds to wait before the next attempt */
                    "Retry-After"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    list_users: {
        parameters: {
            query?: {
                /** @description Number of the page, from 1 */
                page?: number;
                /** @description Items per page */
                limit?: number;
                /** @description The id that the POS gave */
                consumerUserId?: string;
            };
            header?: never;
            path: {
                /** @description The store; `-`: all stores */
                id: string | "-";
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description A page */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        users: components["schemas"]["User"][];
                        page: {
                            /** @description The page that was asked for */
                            number: number;
                            /** @description Whether more pages follow */
                            has_more: boolean;
                            /** @description Items per page */
                            limit: number;
                        };
                    };
                };
            };
            /** @description The request is malformed or a value is out of range */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description No valid credential */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description The credential lacks the scope stores:admin */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description The resource does not exist */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Too many requests */
            429: {
                headers: {
                    /** @description Seconds to wait before the next attempt */
                    "Retry-After"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Unexpected error */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description The service or a dependency is unavailable; try again later */
            503: {
                headers: {
                    /** @description Seconds to wait before the next attempt */
                    "Retry-After"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    createUser: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The store */
                id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "consumerUserId": "demo-member-1",
                 *       "email": "member@example.test"
                 *     }
                 */
                "application/json": {
                    /** @description The id of the member at the POS */
                    consumerUserId: string;
                    /** Format: email */
                    email: string;
                    firstName?: string;
                    lastName?: string;
                    phone?: string;
                };
            };
        };
        responses: {
            /** @description The user */
            201: {
                headers: {
                    /** @description Address of the user */
                    Location?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["User"];
                };
            };
            /** @description The request is malformed or a value is out of range */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description No valid credential */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description The credential lacks the scope stores:admin */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description The resource does not exist */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description The request conflicts with the stored state */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description The body is too large */
            413: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description The media type is not supported */
            415: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Too many requests */
            429: {
                headers: {
                    /** @description Seconds to wait before the next attempt */
                    "Retry-After"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Unexpected error */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description The service or a dependency is unavailable; try again later */
            503: {
                headers: {
                    /** @description Seconds to wait before the next attempt */
                    "Retry-After"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    resendNotification: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
                notificationId: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description It will be sent */
            202: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Notification"];
                };
            };
            /** @description The request is malformed or a value is out of range */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description No valid credential */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description The credential lacks the scope stores:admin */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description The resource does not exist */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description The request conflicts with the stored state */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Too many requests */
            429: {
                headers: {
                    /** @description Seconds to wait before the next attempt */
                    "Retry-After"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Unexpected error */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description The service or a dependency is unavailable; try again later */
            503: {
                headers: {
                    /** @description Seconds to wait before the next attempt */
                    "Retry-After"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    list_orders: {
        parameters: {
            query?: {
                /** @description Number of the page, from 1 */
                page?: number;
                /** @description Items per page */
                limit?: number;
                /** @description The id that the POS gave */
                id?: string;
                /** @description The number that customers know */
                orderNo?: string;
            };
            header?: never;
            path: {
                /** @description The store; `-`: all stores */
                id: string | "-";
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description A page */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        orders: components["schemas"]["Order"][];
                        page: {
                            /** @description The page that was asked for */
                            number: number;
                            /** @description Whether more pages follow */
                            has_more: boolean;
                            /** @description Items per page */
                            limit: number;
                        };
                    };
                };
            };
            /** @description The request is malformed or a value is out of range */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description No valid credential */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description The credential lacks the scope stores:admin */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description The resource does not exist */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Too many requests */
            429: {
                headers: {
                    /** @description Seconds to wait before the next attempt */
                    "Retry-After"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Unexpected error */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description The service or a dependency is unavailable; try again later */
            503: {
                headers: {
                    /** @description Seconds to wait before the next attempt */
                    "Retry-After"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    getOrder: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The store */
                id: string;
                orderId: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The order */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Order"];
                };
            };
            /** @description The request is malformed or a value is out of range */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description No valid credential */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description The credential lacks the scope stores:admin */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description The resource does not exist */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Too many requests */
            429: {
                headers: {
                    /** @description Seconds to wait before the next attempt */
                    "Retry-After"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Unexpected error */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description The service or a dependency is unavailable; try again later */
            503: {
                headers: {
                    /** @description Seconds to wait before the next attempt */
                    "Retry-After"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    list_members: {
        parameters: {
            query?: {
                /** @description Number of the page, from 1 */
                page?: number;
                /** @description Items per page */
                limit?: number;
                /** @description The id that the POS gave */
                id?: string;
            };
            header?: never;
            path: {
                /** @description The store; `-`: all stores */
                id: string | "-";
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description A page */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        members: components["schemas"]["Member"][];
                        page: {
                            /** @description The page that was asked for */
                            number: number;
                            /** @description Whether more pages follow */
                            has_more: boolean;
                            /** @description Items per page */
                            limit: number;
                        };
                    };
                };
            };
            /** @description The request is malformed or a value is out of range */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description No valid credential */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description The credential lacks the scope stores:admin */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description The resource does not exist */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Too many requests */
            429: {
                headers: {
                    /** @description Seconds to wait before the next attempt */
                    "Retry-After"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Unexpected error */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description The service or a dependency is unavailable; try again later */
            503: {
                headers: {
                    /** @description Seconds to wait before the next attempt */
                    "Retry-After"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    getMember: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The store */
                id: string;
                memberId: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The member */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Member"];
                };
            };
            /** @description The request is malformed or a value is out of range */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description No valid credential */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description The credential lacks the scope stores:admin */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description The resource does not exist */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Too many requests */
            429: {
                headers: {
                    /** @description Seconds to wait before the next attempt */
                    "Retry-After"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Unexpected error */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description The service or a dependency is unavailable; try again later */
            503: {
                headers: {
                    /** @description Seconds to wait before the next attempt */
                    "Retry-After"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    list_importJobs: {
        parameters: {
            query?: {
                /** @description Number of the page, from 1 */
                page?: number;
                /** @description Items per page */
                limit?: number;
                /** @description The id that the POS gave */
                memberId?: string;
            };
            header?: never;
            path: {
                /** @description The store; `-`: all stores */
                id: string | "-";
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description A page */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        importJobs: components["schemas"]["ImportJob"][];
                        page: {
                            /** @description The page that was asked for */
                            number: number;
                            /** @description Whether more pages follow */
                            has_more: boolean;
                            /** @description Items per page */
                            limit: number;
                        };
                    };
                };
            };
            /** @description The request is malformed or a value is out of range */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description No valid credential */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description The credential lacks the scope stores:admin */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description The resource does not exist */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Too many requests */
            429: {
                headers: {
                    /** @description Seconds to wait before the next attempt */
                    "Retry-After"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Unexpected error */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description The service or a dependency is unavailable; try again later */
            503: {
                headers: {
                    /** @description Seconds to wait before the next attempt */
                    "Retry-After"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    getUser: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The store */
                id: string;
                userId: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The user */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["User"];
                };
            };
            /** @description The request is malformed or a value is out of range */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description No valid credential */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description The credential lacks the scope stores:admin */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description The resource does not exist */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Too many requests */
            429: {
                headers: {
                    /** @description Seconds to wait before the next attempt */
                    "Retry-After"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Unexpected error */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description The service or a dependency is unavailable; try again later */
            503: {
                headers: {
                    /** @description Seconds to wait before the next attempt */
                    "Retry-After"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    list_deliveryJobs: {
        parameters: {
            query?: {
                /** @description Number of the page, from 1 */
                page?: number;
                /** @description Items per page */
                limit?: number;
                /** @description The id that the POS gave */
                id?: string;
                /** @description The id that the POS gave */
                orderId?: string;
            };
            header?: never;
            path: {
                /** @description The store; `-`: all stores */
                id: string | "-";
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description A page */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        deliveryJobs: components["schemas"]["DeliveryJob"][];
                        page: {
                            /** @description The page that was asked for */
                            number: number;
                            /** @description Whether more pages follow */
                            has_more: boolean;
                            /** @description Items per page */
                            limit: number;
                        };
                    };
                };
            };
            /** @description The request is malformed or a value is out of range */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description No valid credential */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description The credential lacks the scope stores:admin */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description The resource does not exist */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Too many requests */
            429: {
                headers: {
                    /** @description Seconds to wait before the next attempt */
                    "Retry-After"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Unexpected error */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description The service or a dependency is unavailable; try again later */
            503: {
                headers: {
                    /** @description Seconds to wait before the next attempt */
                    "Retry-After"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    getDeliveryJob: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The store */
                id: string;
                jobId: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The delivery job */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["DeliveryJob"];
                };
            };
            /** @description The request is malformed or a value is out of range */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description No valid credential */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description The credential lacks the scope stores:admin */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description The resource does not exist */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Too many requests */
            429: {
                headers: {
                    /** @description Seconds to wait before the next attempt */
                    "Retry-After"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Unexpected error */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description The service or a dependency is unavailable; try again later */
            503: {
                headers: {
                    /** @description Seconds to wait before the next attempt */
                    "Retry-After"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    list_verifications: {
        parameters: {
            query?: {
                /** @description Number of the page, from 1 */
                page?: number;
                /** @description Items per page */
                limit?: number;
                /** @description The id that the provider gave */
                transactionId?: string;
            };
            header?: never;
            path: {
                /** @description The store; `-`: all stores */
                id: string | "-";
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description A page */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        verifications: components["schemas"]["Verification"][];
                        page: {
                            /** @description The page that was asked for */
                            number: number;
                            /** @description Whether more pages follow */
                            has_more: boolean;
                            /** @description Items per page */
                            limit: number;
                        };
                    };
                };
            };
            /** @description The request is malformed or a value is out of range */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description No valid credential */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description The credential lacks the scope stores:admin */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description The resource does not exist */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Too many requests */
            429: {
                headers: {
                    /** @description Seconds to wait before the next attempt */
                    "Retry-After"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Unexpected error */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description The service or a dependency is unavailable; try again later */
            503: {
                headers: {
                    /** @description Seconds to wait before the next attempt */
                    "Retry-After"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    getVerification: {
        parameters: {
            query?: {
                service?: string;
            };
            header?: never;
            path: {
                /** @description The store */
                id: string;
                transactionId: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The verification */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Verification"];
                };
            };
            /** @description The request is malformed or a value is out of range */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description No valid credential */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description The credential lacks the scope stores:admin */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description The resource does not exist */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Too many requests */
            429: {
                headers: {
                    /** @description Seconds to wait before the next attempt */
                    "Retry-After"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Unexpected error */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description The service or a dependency is unavailable; try again later */
            503: {
                headers: {
                    /** @description Seconds to wait before the next attempt */
                    "Retry-After"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    list_payments: {
        parameters: {
            query?: {
                /** @description Number of the page, from 1 */
                page?: number;
                /** @description Items per page */
                limit?: number;
                /** @description The id that the challenge result contains */
                transactionId?: string;
                /** @description The id that the POS gave */
                orderId?: string;
            };
            header?: never;
            path: {
                /** @description The store; `-`: all stores */
                id: string | "-";
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description A page */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        payments: components["schemas"]["RegisteredPayment"][];
                        page: {
                            /** @description The page that was asked for */
                            number: number;
                            /** @description Whether more pages follow */
                            has_more: boolean;
                            /** @description Items per page */
                            limit: number;
                        };
                    };
                };
            };
            /** @description The request is malformed or a value is out of range */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description No valid credential */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description The credential lacks the scope stores:admin */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description The resource does not exist */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Too many requests */
            429: {
                headers: {
                    /** @description Seconds to wait before the next attempt */
                    "Retry-After"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Unexpected error */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description The service or a dependency is unavailable; try again later */
            503: {
                headers: {
                    /** @description Seconds to wait before the next attempt */
                    "Retry-After"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    createPayment: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The store */
                id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["Payment"];
            };
        };
        responses: {
            /** @description The payment */
            201: {
                headers: {
                    /** @description Address of the payment */
                    Location?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Payment"];
                };
            };
            /** @description The request is malformed or a value is out of range */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description No valid credential */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description The credential lacks the scope stores:admin */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description The resource does not exist */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description The request conflicts with the stored state */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description The body is too large */
            413: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description The media type is not supported */
            415: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Too many requests */
            429: {
                headers: {
                    /** @description Seconds to wait before the next attempt */
                    "Retry-After"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Unexpected error */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description The service or a dependency is unavailable; try again later */
            503: {
                headers: {
                    /** @description Seconds to wait before the next attempt */
                    "Retry-After"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    getPayment: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The store */
                id: string;
                service: "threedsecureio" | "netcetera";
                /** @description The id that the challenge result contains */
                transactionId: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The payment */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["RegisteredPayment"];
                };
            };
            /** @description The request is malformed or a value is out of range */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description No valid credential */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description The credential lacks the scope stores:admin */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description The resource does not exist */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Too many requests */
            429: {
                headers: {
                    /** @description Seconds to wait before the next attempt */
                    "Retry-After"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Unexpected error */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description The service or a dependency is unavailable; try again later */
            503: {
                headers: {
                    /** @description Seconds to wait before the next attempt */
                    "Retry-After"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    list_notifications: {
        parameters: {
            query?: {
                /** @description Number of the page, from 1 */
                page?: number;
                /** @description Items per page */
                limit?: number;
                /** @description Id of the order, member or job */
                reference?: string;
            };
            header?: never;
            path: {
                /** @description The store; `-`: all stores */
                id: string | "-";
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description A page */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        notifications: components["schemas"]["Notification"][];
                        page: {
                            /** @description The page that was asked for */
                            number: number;
                            /** @description Whether more pages follow */
                            has_more: boolean;
                            /** @description Items per page */
                            limit: number;
                        };
                    };
                };
            };
            /** @description The request is malformed or a value is out of range */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description No valid credential */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description The credential lacks the scope stores:admin */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description The resource does not exist */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Too many requests */
            429: {
                headers: {
                    /** @description Seconds to wait before the next attempt */
                    "Retry-After"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Unexpected error */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description The service or a dependency is unavailable; try again later */
            503: {
                headers: {
                    /** @description Seconds to wait before the next attempt */
                    "Retry-After"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    list_eventReveals: {
        parameters: {
            query?: {
                /** @description Number of the page, from 1 */
                page?: number;
                /** @description Items per page */
                limit?: number;
            };
            header?: never;
            path: {
                /** @description The store; `-`: all stores */
                id: string | "-";
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description A page */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        eventReveals: components["schemas"]["EventReveal"][];
                        page: {
                            /** @description The page that was asked for */
                            number: number;
                            /** @description Whether more pages follow */
                            has_more: boolean;
                            /** @description Items per page */
                            limit: number;
                        };
                    };
                };
            };
            /** @description The request is malformed or a value is out of range */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description No valid credential */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description The credential lacks the scope stores:admin */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description The resource does not exist */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Too many requests */
            429: {
                headers: {
                    /** @description Seconds to wait before the next attempt */
                    "Retry-After"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Unexpected error */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description The service or a dependency is unavailable; try again later */
            503: {
                headers: {
                    /** @description Seconds to wait before the next attempt */
                    "Retry-After"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    listStoreChanges: {
        parameters: {
            query?: {
                /** @description Number of the page, from 1 */
                page?: number;
                /** @description Items per page */
                limit?: number;
            };
            header?: never;
            path: {
                /** @description The store; `-`: all stores */
                id: string | "-";
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description A page */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        changes: components["schemas"]["StoreChange"][];
                        page: {
                            /** @description The page that was asked for */
                            number: number;
                            /** @description Whether more pages follow */
                            has_more: boolean;
                            /** @description Items per page */
                            limit: number;
                        };
                    };
                };
            };
            /** @description The request is malformed or a value is out of range */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description No valid credential */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description The credential lacks the scope stores:admin */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description The resource does not exist */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Too many requests */
            429: {
                headers: {
                    /** @description Seconds to wait before the next attempt */
                    "Retry-After"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Unexpected error */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description The service or a dependency is unavailable; try again later */
            503: {
                headers: {
                    /** @description Seconds to wait before the next attempt */
                    "Retry-After"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    replayEvents: {
        parameters: {
            query?: {
                /** @description true: change nothing */
                dryRun?: boolean;
            };
            header?: never;
            path: {
                /** @description The store */
                id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "from": "2020-01-01T00:00:00.000Z",
                 *       "to": "2020-01-02T00:00:00.000Z"
                 *     }
                 */
                "application/json": {
                    /** Format: date-time */
                    from: string;
                    /** Format: date-time */
                    to: string;
                    /**
                     * Format: uuid
                     * @description `next` of the previous answer: the request continues after this event
                     */
                    after?: string;
                    /**
                     * @default failed
                     * @enum {string}
                     */
                    status?: "failed" | "done" | "ignored";
                };
            };
        };
        responses: {
            /** @description How many would be processed again */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Replayed"];
                };
            };
            /** @description How many will be processed again */
            202: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Replayed"];
                };
            };
            /** @description The request is malformed or a value is out of range */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description No valid credential */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description The credential lacks the scope stores:admin */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description The resource does not exist */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description The body is too large */
            413: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description The media type is not supported */
            415: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Too many requests */
            429: {
                headers: {
                    /** @description Seconds to wait before the next attempt */
                    "Retry-After"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Unexpected error */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description The service or a dependency is unavailable; try again later */
            503: {
                headers: {
                    /** @description Seconds to wait before the next attempt */
                    "Retry-After"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    replayEvent: {
        parameters: {
            query?: {
                /** @description true: change nothing */
                dryRun?: boolean;
            };
            header?: never;
            path: {
                id: string;
                eventId: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description What would change */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Replay"];
                };
            };
            /** @description It will be processed again */
            202: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Replay"];
                };
            };
            /** @description The request is malformed or a value is out of range */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description No valid credential */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description The credential lacks the scope stores:admin */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description The resource does not exist */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description The request conflicts with the stored state */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Too many requests */
            429: {
                headers: {
                    /** @description Seconds to wait before the next attempt */
                    "Retry-After"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Unexpected error */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description The service or a dependency is unavailable; try again later */
            503: {
                headers: {
                    /** @description Seconds to wait before the next attempt */
                    "Retry-After"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    recheckEvents: {
        parameters: {
            query?: {
                /** @description true: change nothing */
                dryRun?: boolean;
            };
            header?: never;
            path: {
                /** @description The store */
                id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "from": "2020-01-01T00:00:00.000Z",
                 *       "to": "2020-01-02T00:00:00.000Z"
                 *     }
                 */
                "application/json": {
                    /** Format: date-time */
                    from: string;
                    /** Format: date-time */
                    to: string;
                    /**
                     * Format: uuid
                     * @description `next` of the previous answer: the request continues after this event
                     */
                    after?: string;
                };
            };
        };
        responses: {
            /** @description How many were verified and how many passed */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Rechecked"];
                };
            };
            /** @description The request is malformed or a value is out of range */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description No valid credential */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description The credential lacks the scope stores:admin */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description The resource does not exist */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description The body is too large */
            413: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description The media type is not supported */
            415: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Too many requests */
            429: {
                headers: {
                    /** @description Seconds to wait before the next attempt */
                    "Retry-After"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Unexpected error */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description The service or a dependency is unavailable; try again later */
            503: {
                headers: {
                    /** @description Seconds to wait before the next attempt */
                    "Retry-After"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    recheckEvent: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
                eventId: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The new state of the event */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Recheck"];
                };
            };
            /** @description The request is malformed or a value is out of range */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description No valid credential */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description The credential lacks the scope stores:admin */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description The resource does not exist */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description The request conflicts with the stored state */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Too many requests */
            429: {
                headers: {
                    /** @description Seconds to wait before the next attempt */
                    "Retry-After"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Unexpected error */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description The service or a dependency is unavailable; try again later */
            503: {
                headers: {
                    /** @description Seconds to wait before the next attempt */
                    "Retry-After"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    listEvents: {
        parameters: {
            query?: {
                /** @description Number of the page, from 1 */
                page?: number;
                /** @description Items per page */
                limit?: number;
                /** @description pending: to be processed, or to be retried; failed: not retried any more; refused: the signature is not valid; ignored: not processed by this service */
                status?: "pending" | "done" | "failed" | "refused" | "ignored";
                event?: "order_updated" | "new_member" | "member_updated" | "job_assigned" | "job_started" | "job_arrived" | "job_completed" | "identity-verification-updated" | "identity-verification-completed" | "payment-auth-completed";
                /** @description Id of the order, member, job, payment or transaction that the event is about */
                entity?: string;
                /** @description A text that is a value in the body, such as an order number; finds only events that are not done: what the others say is in the records. Each event of the answer is recorded like a reveal */
                value?: string;
                /** @description Id of the event */
                id?: string;
                /** @description X-Request-Id of the request that brought the event, as in the access log */
                requestId?: string;
                /** @description Received then or later */
                from?: string;
                /** @description Received before */
                to?: string;
            };
            header?: never;
            path: {
                /** @description The store; `-`: all stores */
                id: string | "-";
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description A page */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        events: components["schemas"]["Event"][];
                        page: {
                            /** @description The page that was asked for */
                            number: number;
                            /** @description Whether more pages follow */
                            has_more: boolean;
                            /** @description Items per page */
                            limit: number;
                        };
                    };
                };
            };
            /** @description The request is malformed or a value is out of range */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description No valid credential */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description The credential lacks the scope stores:admin */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description The resource does not exist */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Too many requests */
            429: {
                headers: {
                    /** @description Seconds to wait before the next attempt */
                    "Retry-After"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Unexpected error */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description The service or a dependency is unavailable; try again later */
            503: {
                headers: {
                    /** @description Seconds to wait before the next attempt */
                    "Retry-After"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    getEvent: {
        parameters: {
            query?: {
                /** @description true: the body without masking. The caller and the time are recorded first */
                reveal?: boolean;
            };
            header?: never;
            path: {
                id: string;
                eventId: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The event */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["EventDetail"];
                };
            };
            /** @description The request is malformed or a value is out of range */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description No valid credential */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description The credential lacks the scope stores:admin */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description The resource does not exist */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Too many requests */
            429: {
                headers: {
                    /** @description Seconds to wait before the next attempt */
                    "Retry-After"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Unexpected error */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description The service or a dependency is unavailable; try again later */
            503: {
                headers: {
                    /** @description Seconds to wait before the next attempt */
                    "Retry-After"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
}
