import type {
  Consignments,
  StoreWebhooks,
  StoreWebhooksOperations,
  VerifyProjectsOperations,
  WalletOperator,
  WalletOperatorOperations,
} from '@platform/client';

/** Types of the services' OpenAPI documents, by the names of their schemas and operations. */
export type Webhooks = StoreWebhooks['schemas'];
export type Wallet = WalletOperator['schemas'];
/** Types of subscriptions. Those of other services differ only in the names of lists. */
export type Subscriptions = Consignments['schemas'];

/** The response body of an operation. Errors have another media type, `application/problem+json`. */
type JsonOf<Operation extends { responses: object }> = Extract<
  Operation['responses'][keyof Operation['responses']],
  { content: { 'application/json': unknown } }
>['content']['application/json'];

export type WebhooksResponse<Id extends keyof StoreWebhooksOperations> = JsonOf<StoreWebhooksOperations[Id]>;
export type WalletResponse<Id extends keyof WalletOperatorOperations> = JsonOf<WalletOperatorOperations[Id]>;
export type KeysResponse<Id extends keyof VerifyProjectsOperations> = JsonOf<VerifyProjectsOperations[Id]>;
