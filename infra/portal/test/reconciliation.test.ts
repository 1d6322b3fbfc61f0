import { randomInt, randomUUID } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import type { Page } from 'playwright-core';
import { beforeAll, describe, expect, test } from 'vitest';
import { addPlayer, send, tokenWith } from './api.ts';
import { pageFaults, noFaults, hasBrowser, desktop, phone, useBrowser } from './browser.ts';
import { loaded, signedIn } from './sign-in.ts';

useBrowser();

/** A statement of one hour in the past, for which no other test makes entries. */
const pastStatement = (playerId: string) => {
  const begin = Date.UTC(2001, 0, 1, randomInt(80_000));
  const at = (minute: number): string => new Date(begin + minute * 60_000).toISOString();
  const [bet, big] = [`bet-${randomUUID()}`, `big-${randomUUID()}`];
  const round = `round-${randomUUID()}`;
  const lines = [
    `${bet};${playerId};debit;10.00;EUR;${round};dice-alpha;false;${at(1)}`,
    `win-${bet};${playerId};credit;4.00;EUR;${round};dice-alpha;true;${at(2)}`,
    `${big};${playerId};debit;1000.00;EUR;${randomUUID()};dice-alpha;false;${at(3)}`,
    `${bet};${playerId};debit;10.00;EUR;${round};dice-alpha;false;${at(1)}`,
  ];
  return {
    period: [at(0), at(60)].map((time) => time.slice(0, 16)) as [string, string],
    bet,
    round,
    text: ['Tx;Player;operation;amount;currency;roundId;gameCode;roundClosed;Booked at', ...lines].join('\n'),
  };
};

/** Fills in and submits the form, with the columns whose names differ from those of the fields. */
const upload = async (
  page: Page,
  { text, period }: Pick<ReturnType<typeof pastStatement>, 'text' | 'period'>,
) => {
  const file = { name: 'statement.csv', mimeType: 'application/vnd.ms-excel', buffer: Buffer.from(text) };
  await page.getByLabel('Statement (CSV or JSONL)').setInputFiles(file);
  await page.getByText('From and To are preset').waitFor();
  await page.getByLabel('transactionId (required)').selectOption('Tx');
  await page.getByLabel('playerId (required)').selectOption('Player');
  await page.getByLabel('time', { exact: true }).selectOption('Booked at');
  await page.getByLabel('From').fill(period[0]);
  await page.getByLabel('To', { exact: true }).fill(period[1]);
  await page.getByRole('button', { name: 'Compare' }).click();
};

const utc = { timezoneId: 'UTC' };

/** Sends a statement, waits for its differences, and returns the address. */
const compare = async (page: Page, statement: ReturnType<typeof pastStatement>): Promise<string> => {
  await upload(page, statement);
  await page.locator('section[aria-label=Reconciliation]').getByText('4 differences').waitFor();
  return page.url().split('#')[1] ?? '';
};

const downloadFile = async (page: Page, name: string): Promise<string> => {
  const download = page.waitForEvent('download');
  await page.getByRole('button', { name }).click();
  return readFile(await (await download).path(), 'utf8');
};

describe.runIf(hasBrowser)('reconciliation on the operations page', () => {
  let playerId: string;
  beforeAll(async () => {
    playerId = await addPlayer('EUR');
  });

  test('compares a statement, and shows, filters and saves the differences', async () => {
    const statement = pastStatement(playerId);
    await using visited = await signedIn('reconciliation', { ...utc, ...desktop });
    const { page } = visited;
    const address = await compare(page, statement);
    await page.getByText('Not compared, because no line has them: reverseTransactionId.').waitFor();
    const rows = page.locator('tbody tr');
    await expect.poll(() => rows.count()).toBe(4);
    const first = rows.filter({ hasText: 'missing in the ledger' }).first();
    for (const [name, view] of [
      [playerId, 'players'],
      [statement.bet, 'find'],
      [statement.round, 'rounds'],
    ] as const)
      expect(await first.getByRole('link', { name, exact: true }).getAttribute('href')).toContain(
        `#${view}?`,
      );
    await first.getByText('10.00 EUR').waitFor();
    expect(await downloadFile(page, 'Download CSV')).toContain('there.amount');
    const jsonl = await downloadFile(page, 'Download JSONL');
    expect(jsonl.trim().split('\n')).toHaveLength(4);
    await page.getByLabel('Differences', { exact: true }).selectOption('duplicate');
    await expect.poll(() => rows.count()).toBe(1);
    await using other = await signedIn(`${address}&kind=duplicate`, utc);
    await other.page.locator('tbody tr').getByText('twice in the statement').waitFor();
    // The list of reconciliations contains it.
    await page.getByRole('link', { name: 'All reconciliations' }).click();
    await page.getByRole('table', { name: 'Reconciliations' }).getByText('demo-admin').first().waitFor();
    expect(visited.faults).toEqual([]);
  });

  test('presets the period from the times of the file, and leaves it empty without times', async () => {
    const { text } = pastStatement(playerId);
    await using visited = await signedIn('reconciliation', { ...utc, ...desktop });
    const { page } = visited;
    const choose = (content: string) =>
      page
        .getByLabel('Statement (CSV or JSONL)')
        .setInputFiles({ name: 'statement.csv', mimeType: 'text/csv', buffer: Buffer.from(content) });
    const period = () =>
      Promise.all(['From', 'To'].map((name) => page.getByLabel(name, { exact: true }).inputValue()));
    await choose(text);
    const times = text.split('\n').flatMap((line) => line.split(';').at(-1)?.slice(0, 19) ?? []);
    await expect.poll(period).toEqual([times[1]?.slice(0, 16), times[3]?.replace(/0$/, '1')]);
    await choose(text.replaceAll('Z', ''));
    await page.getByText('enter the period of the statement').waitFor();
    expect(await period()).toEqual(['', '']);
    expect(visited.faults).toEqual([]);
  });

  test('repairs after a dry run and a confirmation; the result of the dry run stays', async () => {
    const otherPlayer = await addPlayer('EUR');
    await using visited = await signedIn('reconciliation', { ...utc, ...desktop });
    const { page } = visited;
    await compare(page, pastStatement(otherPlayer));
    await page.getByRole('button', { name: 'Dry run' }).click();
    const forecast = page.getByText(/^2 would be repaired/);
    await forecast.waitFor();
    await page.getByText(/^1 would be refused: no money/).waitFor();
    const money = 'debits of 10.00 EUR (missing in the ledger), credits of 4.00 EUR (missing in the ledger)';
    await page.getByText(`Money: ${money}. Players: ${otherPlayer}.`).waitFor();
    await page.getByRole('button', { name: 'Apply 2 repairs' }).click();
    await page.getByText(/^2 repaired/).waitFor();
    expect(await forecast.isVisible()).toBe(true);
    await expect.poll(() => page.locator('tbody').getByText('applied', { exact: true }).count()).toBe(2);
    const player = (await (await send('GET', `/v1/players/${otherPlayer}`)).json()) as { balance: string };
    expect(player.balance).toBe('94.00');
    await page.getByRole('link', { name: 'Ledger', exact: true }).click();
    await page.getByLabel('Player', { exact: true }).fill(otherPlayer);
    await page.keyboard.press('Enter');
    const log = page.getByRole('table', { name: 'Audit log' });
    await log.getByText('Repaired difference 1, a debit of 10.00 EUR').waitFor();
    expect(visited.faults).toEqual([]);
  });

  test('downloads and repairs only the selected differences', async () => {
    const otherPlayer = await addPlayer('EUR');
    await using visited = await signedIn('reconciliation', { ...utc, ...desktop });
    const { page } = visited;
    await compare(page, pastStatement(otherPlayer));
    const [csv, jsonl] = [
      await downloadFile(page, 'Download CSV'),
      await downloadFile(page, 'Download JSONL'),
    ];
    await page.getByLabel('Choose difference 1', { exact: true }).check();
    await page.getByText('Downloads and repairs apply to 1 selected difference.').waitFor();
    await page.getByLabel('Choose difference 3', { exact: true }).check();
    const lines = csv.split('\r\n');
    expect((await downloadFile(page, 'Download CSV')).split('\r\n')).toEqual([
      lines[0],
      lines[1],
      lines[3],
      '',
    ]);
    const valuesOf = (text: string): unknown[] =>
      text
        .trim()
        .split('\n')
        .map((line) => JSON.parse(line) as unknown);
    const differences = valuesOf(jsonl);
    expect(valuesOf(await downloadFile(page, 'Download JSONL'))).toEqual([differences[0], differences[2]]);
    await page.getByLabel('Choose difference 3', { exact: true }).uncheck();
    await page.getByRole('button', { name: 'Dry run' }).click();
    await page.getByText('1 would be repaired (No. 1)').waitFor();
    // A change of the selection removes the confirmation.
    await page.getByRole('button', { name: 'Clear selection' }).click();
    expect(await page.getByRole('button', { name: /^Apply/ }).count()).toBe(0);
    await page.getByLabel('Choose difference 1', { exact: true }).check();
    await page.getByRole('button', { name: 'Dry run' }).click();
    await page.getByRole('button', { name: 'Apply 1 repair' }).click();
    await page.getByText('1 repaired (No. 1)').waitFor();
    await expect.poll(() => page.locator('tbody').getByText('applied', { exact: true }).count()).toBe(1);
    expect(visited.faults).toEqual([]);
  });

  test('marks the values that differ between the statement and the ledger', async () => {
    await using visited = await signedIn('reconciliation', { ...utc, ...desktop });
    const { page } = visited;
    await page.route('**/differences?*', async (route) => {
      const answer = (await (await route.fetch()).json()) as { differences: Record<string, object>[] };
      const [first = {}] = answer.differences;
      const here = { ...first['there'], line: null, amount: '10.50' };
      await route.fulfill({
        json: { ...answer, differences: [{ ...first, kind: 'amount', here }] },
      });
    });
    await compare(page, pastStatement(playerId));
    const marks = page.locator('tbody mark');
    const texts = ['10.00 (differs)', '10.50 (differs)'];
    await expect.poll(() => marks.allTextContents()).toEqual(texts);
    await page.locator('tbody tr button').first().click();
    const both = page.getByRole('table', { name: 'Both sides' });
    await expect
      .poll(() => both.locator('mark').allTextContents())
      .toEqual(['10.00 EUR (differs)', '10.50 EUR (differs)']);
  });

  test('labels both sides of a difference on a phone, which does not show the table head', async () => {
    await using visited = await signedIn('reconciliation', { ...utc, ...phone });
    const { page } = visited;
    await compare(page, pastStatement(playerId));
    const row = page.locator('tbody tr').first();
    const side = row.locator('td', { hasText: '10.00 EUR' });
    expect(await side.getAttribute('data-label')).toBe('Statement');
    const [choice, number, state] = await Promise.all(
      [row.getByRole('checkbox'), row.getByRole('button').first(), row.locator('.state')].map((cell) =>
        cell.boundingBox(),
      ),
    );
    expect(choice?.x).toBeLessThan(number?.x ?? 0);
    expect(number?.x).toBeLessThan(state?.x ?? 0);
  });

  test('withdraws a reconciliation after a confirmation, and says so', async () => {
    await using visited = await signedIn('reconciliation', { ...utc, ...desktop });
    const { page } = visited;
    await compare(page, pastStatement(playerId));
    await page.getByRole('button', { name: 'Withdraw …' }).click();
    await page.getByText('Repairs of other reconciliations no longer wait').waitFor();
    await page.getByRole('button', { name: 'Withdraw now' }).press('Enter');
    await page.getByText('The reconciliation was withdrawn: no more repairs are made from it.').waitFor();
    await expect.poll(() => page.getByRole('button', { name: /^Withdraw/ }).count()).toBe(0);
    await page.getByRole('link', { name: 'Ledger', exact: true }).click();
    const log = page.getByRole('table', { name: 'Audit log' });
    await log.getByText('Withdrew the reconciliation').first().waitFor();
    expect(visited.faults).toEqual([]);
  });

  test('a difference has its own address, both sides and its own repair', async () => {
    const otherPlayer = await addPlayer('EUR');
    await using visited = await signedIn('reconciliation', { ...utc, ...desktop });
    const { page } = visited;
    const address = await compare(page, pastStatement(otherPlayer));
    await page.locator('tbody tr button').first().press('Enter');
    const dialog = page.getByRole('dialog', { name: 'Difference 1' });
    await dialog.getByRole('table', { name: 'Both sides' }).getByText('10.00 EUR').waitFor();
    expect(page.url()).toContain('open=1');
    await dialog.getByRole('button', { name: 'Dry run' }).click();
    await dialog.getByRole('button', { name: 'Apply 1 repair' }).press('Enter');
    await dialog.getByText('1 repaired (No. 1)').waitFor();
    // The focus stayed in the dialog although its button disappeared.
    expect(await page.evaluate(() => document.activeElement?.closest('dialog') !== null)).toBe(true);
    await dialog.getByText('applied', { exact: true }).waitFor();
    await page.keyboard.press('Escape');
    await expect.poll(() => page.url()).not.toContain('open=');
    await page.locator('tbody tr').first().getByText('applied', { exact: true }).waitFor();
    await using other = await signedIn(`${address}&open=3`, utc);
    await other.page.getByRole('dialog', { name: 'Difference 3' }).getByText('1000.00 EUR').waitFor();
  });

  test('a statement with errors is refused with their lines and columns', async () => {
    const { text, period } = pastStatement(playerId);
    await using visited = await signedIn('reconciliation', utc);
    const { page } = visited;
    await upload(page, { text: text.replaceAll(';debit;', ';bet;'), period });
    const alert = page.locator('section[aria-label=Reconciliation]').getByRole('alert');
    await alert.getByText('3 mistakes').waitFor();
    await alert.getByText('line 2, operation: must be debit, credit or rollback').waitFor();
    expect(await page.getByRole('button', { name: 'Compare' }).isEnabled()).toBe(true);
    // The list shows it as failed.
    await page.locator('tbody tr').getByText('failed', { exact: true }).first().waitFor();
  });

  test('shows the progress until the comparison is done, and why one failed', async () => {
    await using visited = await signedIn('traffic', utc);
    const { page } = visited;
    const id = '01980000-0000-7000-8000-000000000000';
    const reconciliation = {
      reconciliationId: id,
      createdAt: '2026-11-22T10:00:00.000Z',
      createdBy: 'ann',
      from: '2026-11-21T00:00:00.000Z',
      to: '2026-11-22T00:00:00.000Z',
      tolerance: 300,
      failure: null,
      lines: 1000,
      comparedLines: 400,
      differences: 0,
      kinds: [],
      fields: [],
    };
    let current: object = { ...reconciliation, status: 'comparing' };
    await page.route(`**/v1/reconciliations/${id}`, (route) => route.fulfill({ json: current }));
    await page.evaluate((hash) => (location.hash = hash), `#reconciliation?id=${id}`);
    await page.getByText('400 of 1,000 lines compared').waitFor();
    current = { ...reconciliation, status: 'done', comparedLines: 1000 };
    await page.getByText('The statement and the ledger agree').waitFor();
    await expect.poll(() => page.getByRole('progressbar').count()).toBe(0);
    current = { ...reconciliation, status: 'failed', failure: 'interrupted' };
    await page.getByRole('link', { name: 'Traffic' }).click();
    await page.goBack();
    await page.getByText('The upload was interrupted. Send the statement again.').waitFor();
  });

  test('a read-only token shows everything except the upload and the repairs', async () => {
    await using visited = await signedIn('reconciliation', utc, await tokenWith('wallet:read'));
    const { page } = visited;
    await loaded(page);
    expect(await page.locator('.view').getByRole('alert').count()).toBe(0);
    expect(await page.locator('.view input[type=file]').count()).toBe(0);
    await using admin = await signedIn('reconciliation', utc);
    const address = await compare(admin.page, pastStatement(playerId));
    await page.evaluate((hash) => (location.hash = hash), address);
    await page.getByRole('table', { name: 'Differences' }).waitFor();
    for (const name of ['Dry run of repairs', 'Withdraw …'])
      expect(await page.getByRole('button', { name }).count()).toBe(0);
  });

  test('one reconciliation and one difference fit the screen and have no axe violation', async () => {
    await using visited = await signedIn('reconciliation', utc);
    const address = await compare(visited.page, pastStatement(playerId));
    for (const fragment of [address, `${address}&open=1`]) {
      const look = { ...phone, bypassCSP: true, reducedMotion: 'reduce' } as const;
      await using other = await signedIn(fragment, look);
      const { page } = other;
      await page.locator('section[aria-label=Reconciliation] tbody tr').first().waitFor();
      for (const { viewport } of [phone, desktop]) {
        await page.setViewportSize(viewport);
        await loaded(page);
        expect(await pageFaults(page)).toEqual(noFaults);
      }
    }
  });
});
