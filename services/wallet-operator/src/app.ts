import { createHttpApp, type HttpApp } from '@platform/service-kit/app';
import { adjustmentRoutes } from './accounts/adjustments/routes.ts';
import { currencyRoute } from './accounts/currencies.ts';
import { playerEntries, transactionEntries } from './accounts/entries.ts';
import { gameRecord } from './accounts/games.ts';
import { launchRoutes } from './accounts/launches/routes.ts';
import { playerRecord } from './accounts/players/record.ts';
import { sessionRoutes } from './accounts/sessions.ts';
import { DepositLimitReached, transferRoutes } from './accounts/transfers.ts';
import { callbackRoutes } from './callbacks/routes.ts';
import type { Context } from './context.ts';
import { fieldExamples } from './field-examples.ts';
import { limitRoutes } from './limits/routes.ts';
import { problemCodes } from './problem-codes.ts';
import { reconciliationRoutes } from './reconciliation/routes.ts';
import { auditTrail } from './reporting/audit.ts';
import { proofRoute } from './reporting/proof/routes.ts';
import { refusalList } from './reporting/refusals.ts';
import { roundRoutes } from './reporting/rounds/rounds.ts';
import { summaryRoutes } from './reporting/summary/routes.ts';
import { evidenceRoutes } from './sealing/routes.ts';

/** All routes of the service, and the general part of its OpenAPI document. */
export const createApp = (context: Context): HttpApp =>
  createHttpApp(context, {
    api: {
      title: 'Wallet operator',
      version: '1.0.0',
      description:
        "The operator's side of a game server integration: wallet callbacks, and management of players, games and rounds.",
      tags: {
        Callbacks: 'Called by the game server, signed with HMAC-SHA256',
        Players: 'Players and their balances',
        Limits: 'Limits on deposits, bets, losses and time, and reality checks',
        Games: 'Games that players may play',
        Rounds: 'Rounds for support, and rounds that were never closed',
        Launches: 'Game launches, sessions and currencies of the game server',
        Audit: 'The audit trail and the proof of the ledger',
        Reconciliation: 'Compares our entries with statements of the game server',
        Evidence: 'Proof for third parties that entries were not changed',
      },
      codes: problemCodes,
      problemMembers: { deposit_limit_reached: DepositLimitReached },
      basePath: '',
      examples: fieldExamples,
    },
    routes: [
      ...callbackRoutes(context),
      ...playerRecord(context),
      playerEntries(context),
      ...transferRoutes(context),
      ...adjustmentRoutes(context),
      ...limitRoutes(context),
      ...roundRoutes(context),
      refusalList(context),
      ...gameRecord(context),
      ...launchRoutes(context),
      ...sessionRoutes(context),
      currencyRoute(context),
      auditTrail(context),
      transactionEntries(context),
      proofRoute(context),
      ...summaryRoutes(context),
      ...reconciliationRoutes(context),
      ...evidenceRoutes(context),
    ],
  });
