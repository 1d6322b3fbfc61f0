import { execFile } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import type { Page } from 'playwright-core';
import { beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { hasBrowser, useBrowser } from './browser.ts';
import { callback, tokenWith } from './api.ts';
import { loaded, signedIn } from './sign-in.ts';
import { stack } from './stack.ts';

useBrowser();
const roundId = `evidence/${randomUUID()}`;
const verifier = join(import.meta.dirname, '../../../packages/sealed-log/src/main.ts');

/** Clicks a button that downloads a file, and returns the path of the saved file. */
const saveFile = async (page: Page, name: string, folder: string): Promise<string> => {
  const download = page.waitForEvent('download');
  await page.getByRole('button', { name }).click();
  const file = await download;
  const path = join(folder, file.suggestedFilename());
  await file.saveAs(path);
  return path;
};

describe.runIf(hasBrowser)('evidence on the operations page', () => {
  beforeAll(async () => {
    const bet = { requestId: 'r', playerId: 'demo-1', roundId, gameCode: 'dice-alpha', amount: '1.50' };
    await callback('debit', { ...bet, transactionId: randomUUID() });
  });

  test('of a round can be reached from the round and saved, and the saved files prove its entries', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'evidence-'));
    onTestFinished(() => rm(folder, { recursive: true }));
    await using visited = await signedIn(
      `rounds?${new URLSearchParams({ player: 'demo-1', round: roundId })}`,
    );
    const { page } = visited;
    await page.getByRole('dialog').getByRole('link', { name: 'Evidence', exact: true }).click();
    const view = page.locator('section[aria-label=Evidence]');
    const entry = view.getByRole('table', { name: 'Entries of the evidence' }).getByText('-1.50 EUR');
    // The newest entries are sealed some seconds later.
    for (const notYet = view.getByText('not sealed yet'); ;) {
      await entry.or(notYet).first().waitFor();
      if (await entry.isVisible()) break;
      await view.getByRole('button', { name: 'Show evidence' }).click();
      await expect.poll(() => view.locator('[aria-busy]').count()).toBe(0);
    }
    // After a reload the list contains the new checkpoint.
    await page.getByRole('link', { name: 'Ledger', exact: true }).click();
    await page.goBack();
    await entry.waitFor();
    await view.getByRole('table', { name: 'Checkpoints' }).locator('tbody tr').first().waitFor();
    const [evidence, keys, checkpoints] = [
      await saveFile(page, 'Download evidence', folder),
      await saveFile(page, 'Download public keys', folder),
      await saveFile(page, 'Download these checkpoints', folder),
    ];
    const args = [verifier, evidence, '--key', keys, '--checkpoints', checkpoints];
    const { stdout } = await promisify(execFile)(process.execPath, args);
    expect(stdout).toBe(`proven: round ${roundId} of player demo-1 (entries: 1)\n`);
    expect(visited.faults).toEqual([]);
  });

  test('needs a scope, which the page names', async () => {
    await using visited = await signedIn('evidence', {}, stack.demo.consignmentsToken);
    await visited.page.getByText('Evidence needs the scope wallet:audit or wallet:read').waitFor();
    expect(visited.requestedPaths.filter((path) => path.startsWith('/v1'))).toEqual([]);
  });

  test('of a round and checkpoints need different scopes, and a token shows only its part', async () => {
    for (const [scope, isRound] of [
      ['wallet:read', true],
      ['wallet:audit', false],
    ] as const) {
      await using visited = await signedIn('evidence', {}, await tokenWith(scope));
      const { page } = visited;
      await loaded(page);
      expect(await page.getByRole('button', { name: 'Show evidence' }).count()).toBe(isRound ? 1 : 0);
      expect(await page.getByRole('heading', { name: 'Checkpoints' }).count()).toBe(isRound ? 0 : 1);
      expect(await page.locator('.view').getByRole('alert').count()).toBe(0);
    }
  });
});
