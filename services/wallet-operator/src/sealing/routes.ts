import { Checkpoint } from '@platform/sealed-log/checkpoint';
import { EvidenceFile } from '@platform/sealed-log/evidence';
import { PublicJwk } from '@platform/sealed-log/keys';
import { anyone, route, type Route } from '@platform/service-kit/route';
import { z } from 'zod';
import type { Context } from '../context.ts';
import { RoundPath } from '../reporting/rounds/schema.ts';
import { listRoute } from '../list-route.ts';
import { listCheckpoints, roundEvidence, sealingKeys } from './use-cases.ts';

const tag = 'Evidence';

const SealingKeys = z.object({ keys: z.array(PublicJwk) }).meta({ id: 'SealingKeys' });

/** Routes of checkpoints, keys and evidence, which prove to third parties that entries existed and were not changed. */
export const evidenceRoutes = (context: Context): Route[] => [
  listRoute(
    {
      path: '/v1/audit/checkpoints',
      operationId: 'listCheckpoints',
      tag,
      summary: 'List the checkpoints of the ledger',
      description:
        'Third parties save them. By default oldest first, so that the number of a checkpoint is its position in the list.',
      auth: context.tokens.guard('wallet:audit'),
      filters: z.object({
        sort: z
          .enum(['number', '-number'])
          .default('number')
          .meta({ description: '`-number`: newest first' }),
      }),
      name: 'checkpoints',
      item: Checkpoint,
    },
    (page, { query: { sort } }) => listCheckpoints(context, sort, page),
  ),
  route(
    {
      method: 'get',
      path: '/v1/audit/keys',
      operationId: 'listSealingKeys',
      tag,
      summary: 'List the public keys of checkpoints',
      auth: anyone,
      responses: { 200: { description: 'A JWKS (RFC 7517), newest key first', body: SealingKeys } },
    },
    async () => ({ status: 200, body: await sealingKeys(context) }),
  ),
  route(
    {
      method: 'get',
      path: '/v1/players/{playerId}/rounds/{roundId}/evidence',
      operationId: 'getRoundEvidence',
      tag,
      summary: 'Get the evidence of a round',
      description:
        'Save the unchanged bytes of the answer. `verify-evidence` checks them without this service or its database.',
      auth: context.tokens.guard('wallet:read'),
      params: RoundPath,
      responses: {
        200: {
          description: 'Evidence',
          body: EvidenceFile,
          headers: { 'Content-Disposition': 'Name of the file' },
        },
      },
      problems: [404, 409],
    },
    async ({ params }) => ({
      status: 200,
      headers: { 'Content-Disposition': 'attachment; filename="evidence.json"' },
      // The signed text itself, because serialising it again by its schema could change its bytes.
      rawBody: await roundEvidence(context, params.playerId, params.roundId),
    }),
  ),
];
