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
/** Of subscriptions; those of other services differ in the names of lists only. */
export type Subscriptions = Consignments['schemas'];

/** The body of the answer of an operation; errors have another media type, `application/problem+json`. */
type JsonOf<Operation extends { responses: object }> = Extract<
  Operation['responses'][keyof Operation['responses']],
  { content: { 'application/json': unknown } }
>['content']['application/json'];

export type WebhooksAnswer<Name extends keyof StoreWebhooksOperations> = JsonOf<
  StoreWebhooksOperations[Name]
>;
export type WalletAnswer<Name extends keyof WalletOperatorOperations> = JsonOf<
  WalletOperatorOperations[Name]
>;
export type KeysAnswer<Name extends keyof VerifyProjectsOperations> = JsonOf<VerifyProjectsOperations[Name]>;
