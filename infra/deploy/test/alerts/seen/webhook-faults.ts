import { randomUUID } from 'node:crypto';
import { globSync, openSync, rmSync, statSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { waitFor } from '@platform/e2e/wait';
import type { Fault } from './faults.ts';
import { allOf, hold, lockOut, repeat, send, type Target } from './platform.ts';

interface Store {
  id: string;
  webhookToken: string;
}

const json = { 'Content-Type': 'application/json' };

const callStores = async ({ file }: Target, method: string, path: string, body: object): Promise<Store> => {
  const response = await fetch(`${file.gateway}/v1/stores${path}`, {
    method,
    headers: { ...json, Authorization: `Bearer ${file.demo.adminToken}` },
    body: JSON.stringify(body),
  });
  if (!response.ok) throw new Error(`${method} ${path}: ${response.status} ${await response.text()}`);
  return (await response.json()) as Store;
};
const addStore = (target: Target, settings: object): Promise<Store> =>
  callStores(target, 'POST', '', {
    name: 'Alerts',
    storeUrl: 'https://shop.example.test/',
    pos: { kind: 'generic' },
    ...settings,
  });

const hook = ({ file }: Target, { webhookToken }: Pick<Store, 'webhookToken'>, event: string, body: object) =>
  send(`${file.gateway}/api/v1/hooks/${event}/${webhookToken}`, {
    method: 'POST',
    headers: json,
    body: JSON.stringify(body),
  });
const order = (more: object = {}): object => ({ id: randomUUID(), status: 'PENDING', ...more });

/** Deleting the store ends what its events have raised. */
const removal =
  (target: Target, { id }: Store) =>
  () =>
    target.ownerOf('store-webhooks')`delete from results where store_id = ${id}`;

const filesOfSpool = ({ stack }: Target, ending: string): string[] =>
  globSync(join(stack.local, 'folders/store-webhooks/SPOOL_DIR/**', `*.${ending}`));

/** Of store-webhooks, one after the other. */
export const webhookFaults: readonly Fault[] = [
  {
    fault: 'an order whose status the mapping of its store does not name',
    clears: 'the event is replayed or dismissed, or a day has passed',
    alerts: ['EventsFailed store-webhooks'],
    provoke: async (target) => {
      const store = await addStore(target, {});
      await hook(target, store, 'order_updated', { id: 'o-1', state: 'PENDING' });
      return removal(target, store);
    },
  },
  {
    fault: 'six orders of which the mapping of their store fits nothing',
    clears: 'a day has passed since',
    alerts: ['EventsTakenForTests store-webhooks'],
    provoke: async (target) => {
      const store = await addStore(target, {});
      for (let number = 1; number <= 6; number += 1)
        await hook(target, store, 'order_updated', { ref: number });
      return removal(target, store);
    },
  },
  {
    fault: 'a webhook without the signature of its provider',
    clears: 'the event is rechecked with the right secret, or a day has passed',
    alerts: ['EventsRefused store-webhooks'],
    provoke: async (target) => {
      const identity = [{ kind: 'veriff', credentials: { webhookSecret: 'secret' } }];
      const store = await addStore(target, { identity });
      const body = { service: 'veriff', transactionId: 't-1', status: 'APPROVED' };
      await hook(target, store, 'identity-verification-updated/veriff', body);
      return removal(target, store);
    },
  },
  {
    fault: 'the challenge of one payment sent for another',
    clears: 'none came for 15 minutes',
    alerts: ['ChallengeMismatch store-webhooks'],
    provoke: async (target) => {
      const store = await addStore(target, { payments: [{ kind: 'threedsecureio' }] });
      const service = 'threedsecureio';
      const threeDSServerTransId = randomUUID();
      await callStores(target, 'POST', `/${store.id}/payments`, {
        service,
        transactionId: 'cheap',
        orderId: 'o-1',
        threeDSServerTransId,
      });
      await callStores(target, 'POST', `/${store.id}/payments`, {
        service,
        transactionId: 'expensive',
        orderId: 'o-2',
      });
      const challenge = {
        threeDSServerTransID: threeDSServerTransId,
        acsTransID: randomUUID(),
        messageType: 'CRes',
        messageVersion: '2.2.0',
        transStatus: 'Y',
      };
      const cres = Buffer.from(JSON.stringify(challenge)).toString('base64url');
      const body = { service, cres, transactionId: 'expensive' };
      await hook(target, store, `payment-auth-completed/${service}`, body);
      return removal(target, store);
    },
  },
  {
    fault:
      'the table of orders locked, while a shop sends 1,500 orders and then some more; the first of them is half an hour old',
    clears: 'the lock is released, and the events are processed',
    alerts: ['EventsWait store-webhooks', 'OldestEventWaits store-webhooks'],
    provoke: async (target) => {
      const sql = target.ownerOf('store-webhooks');
      const store = target.file.demo.store;
      const mend = await hold(sql, 'lock table orders in access exclusive mode');
      const sendOrder = () => hook(target, store, 'order_updated', order());
      for (let count = 0; count < 1500; count += 50) await Promise.all(Array.from({ length: 50 }, sendOrder));
      await sql`update queue set queued_at = now() - interval '31 minutes'
        where (store_id, entity, id) in (select store_id, entity, id from queue limit 1)`;
      return allOf(mend, repeat(sendOrder));
    },
  },
  {
    fault: 'a mail for a mail server that does not run; it is half an hour old',
    clears: 'the mail server accepts it, or the store does not want it any more',
    alerts: ['MailsWait store-webhooks'],
    provoke: async (target) => {
      const sql = target.ownerOf('store-webhooks');
      const staff = { email: 'staff@example.test' };
      const store = await addStore(target, { notifications: { staff } });
      await hook(target, store, 'new_member', { id: 'm-1' });
      await waitFor('the mail waits', async () => {
        const { count } = await sql`update notifications set created_at = now() - interval '31 minutes'
          where store_id = ${store.id} and mail = 'pending'`;
        return count > 0;
      });
      return () =>
        callStores(target, 'PATCH', `/${store.id}`, { notifications: { staff: { ...staff, events: [] } } });
    },
  },
  {
    fault: 'the role of store-webhooks may not log in, while a shop sends orders',
    clears: 'the role may log in, and the spool is empty',
    alerts: [
      'DatabaseUnavailable store-webhooks',
      'SpoolHoldsEvents store-webhooks',
      'SpoolNearlyFull store-webhooks',
      'ObjectiveMissed webhooks acknowledged',
    ],
    provoke: async (target) => {
      const mend = await lockOut(target, 'store-webhooks');
      const big = () =>
        hook(target, target.file.demo.store, 'order_updated', order({ note: 'x'.repeat(20_000) }));
      return allOf(mend, repeat(big, { count: 4 }));
    },
  },
  {
    fault: 'a file of the spool with wrong bytes, found when the database is back',
    clears: 'the damaged files are moved away',
    alerts: ['SpoolDamaged store-webhooks'],
    provoke: async (target) => {
      const mend = await lockOut(target, 'store-webhooks');
      const isLarge = (file: string) => statSync(file).size > 2000;
      await waitFor('the spool is in use', () => filesOfSpool(target, 'spool').some(isLarge));
      for (const file of filesOfSpool(target, 'spool').filter(isLarge))
        writeSync(openSync(file, 'r+'), Buffer.alloc(200, 0x7f), 0, 200, 500);
      await mend();
      return async () => {
        for (const file of filesOfSpool(target, 'damaged')) rmSync(file);
      };
    },
  },
];
