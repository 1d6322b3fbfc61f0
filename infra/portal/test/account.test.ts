import { randomUUID } from 'node:crypto';
import type { BrowserContextOptions, Page } from 'playwright-core';
import { describe, expect, test } from 'vitest';
import { pageFaults, noFaults, hasBrowser, gateway, useBrowser, visit } from './browser.ts';
import { send } from './api.ts';

useBrowser();

const password = 'correct horse battery';
const newPassword = 'a better horse battery';

const post = (path: string, body: object, token = ''): Promise<Response> =>
  fetch(`${gateway}/api/v1/auth/${path}`, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json', ...(token && { Authorization: `Bearer ${token}` }) },
    body: JSON.stringify(body),
  });

const register = async () => {
  const email = `account-${randomUUID()}@example.test`;
  const { accessToken } = (await (await post('register', { email, password })).json()) as {
    accessToken: string;
  };
  return { email, accessToken };
};

/** Path and fragment of the link in the mail of a user with this subject. */
const linkOf = async (email: string, subject: string): Promise<string> => {
  const find = async () => {
    const { mails } = (await (await send('GET', '/docs/ops/mails')).json()) as {
      mails: { to: string; subject: string; text: string }[];
    };
    const mail = mails.find((candidate) => candidate.to === email && candidate.subject === subject);
    return /http\S+/.exec(mail?.text ?? '')?.[0];
  };
  await expect.poll(find).toContain(`${gateway}/account/`);
  return ((await find()) ?? '').slice(gateway.length);
};

/** The link of the mail by which a new user sets a password. */
const resetLink = async () => {
  const user = await register();
  await post('password/reset', { email: user.email });
  return { ...user, link: await linkOf(user.email, 'Set a new password') };
};

const status = (page: Page) => page.getByRole('status').textContent();
const logIn = async (email: string, secret: string) =>
  (await post('login', { email, password: secret })).status;

describe.runIf(hasBrowser)('the pages for links in mails', () => {
  test('a password is set with the keyboard alone, after another one was refused with a reason', async () => {
    const { email, link } = await resetLink();
    await using visited = await visit(link);
    const { page } = visited;
    await page.getByLabel('New password', { exact: true }).waitFor();
    await page.keyboard.type('password123');
    await page.keyboard.press('Enter');
    await page.getByRole('alert').getByText('The password is one of the most common passwords.').waitFor();
    await page.keyboard.press('Control+a');
    await page.keyboard.type(newPassword);
    await page.keyboard.press('Tab');
    await page.keyboard.press('Space');
    expect(await page.getByLabel('New password', { exact: true }).getAttribute('type')).toBe('text');
    await page.keyboard.press('Tab');
    await page.keyboard.press('Enter');
    expect(await status(page)).toBe('Your password was changed. You can log in with it now.');
    expect(await page.evaluate(() => document.activeElement?.role)).toBe('status');
    expect([await logIn(email, password), await logIn(email, newPassword)]).toEqual([401, 200]);
    expect({ faults: visited.faults, outside: visited.outside }).toEqual({ faults: [], outside: [] });
  });

  test('the code is in no request but the one that uses it, and not in the address or the history', async () => {
    const { link } = await resetLink();
    const [path = '', code = ''] = link.split('#');
    await using visited = await visit('/account/email/');
    const { page } = visited;
    const carriers: string[] = [];
    page.on('request', (request) => {
      const content = [request.url(), request.postData(), JSON.stringify(request.headers())].join(' ');
      if (content.includes(code)) carriers.push(`${request.method()} ${new URL(request.url()).pathname}`);
    });
    await page.goto(gateway + link);
    await page.getByLabel('New password', { exact: true }).fill(newPassword);
    expect(page.url()).toBe(gateway + path);
    await page.keyboard.press('Enter');
    expect(await status(page)).toContain('Your password was changed.');
    await page.goBack();
    await page.goForward();
    expect(page.url()).toBe(gateway + path);
    expect(await status(page)).toBe('Open this page with the link in the mail.');
    expect(carriers).toEqual(['POST /api/v1/auth/password/reset/confirm']);
  });

  test('an address is confirmed with the keyboard alone; a scanner that fetches a link uses nothing up, a second use is refused, and a link that nobody sent too', async () => {
    const { email } = await register();
    const link = await linkOf(email, 'Confirm your email address');
    for (const method of ['GET', 'HEAD']) expect((await fetch(gateway + link, { method })).status).toBe(200);
    const results = [];
    for (const opened of [link, link, '/account/email/#made-up']) {
      await using visited = await visit(opened);
      const { page } = visited;
      await page.getByRole('button', { name: 'Confirm the address' }).waitFor();
      for (const key of ['Tab', 'Enter']) await page.keyboard.press(key);
      results.push(await status(page));
    }
    const useless =
      'This link was already used, has expired, or was replaced by a newer one. Request another mail.';
    expect(results).toEqual(['Your email address is confirmed. You can log in now.', useless, useless]);
  });

  test('another link that is opened in the same tab replaces the first', async () => {
    const { email } = await register();
    await using visited = await visit('/account/email/#made-up');
    const { page } = visited;
    const link = await linkOf(email, 'Confirm your email address');
    await page.evaluate((hash) => (location.hash = hash), link.split('#')[1] ?? '');
    await page.waitForFunction(() => location.hash === '');
    await page.getByRole('button', { name: 'Confirm the address' }).click();
    expect(await status(page)).toContain('is confirmed');
  });

  test('a deletion is cancelled with the password and the keyboard alone, and no user is logged in afterwards', async () => {
    const { email, accessToken } = await register();
    expect((await post('me/delete', {}, accessToken)).status).toBe(200);
    await using visited = await visit(await linkOf(email, 'Your account will be deleted'));
    const { page } = visited;
    await page.getByLabel('Email address').waitFor();
    await page.keyboard.type(email);
    await page.keyboard.press('Tab');
    await page.keyboard.type('wrong');
    await page.keyboard.press('Enter');
    await page.getByRole('alert').getByText('The email address or the password is wrong.').waitFor();
    await page.keyboard.press('Control+a');
    await page.keyboard.type(password);
    await page.keyboard.press('Tab');
    await page.keyboard.press('Enter');
    expect(await status(page)).toBe('Your account is kept. You can log in now.');
    expect(await page.context().cookies()).toEqual([]);
    const { users } = (await (await send('GET', `/api/v1/auth/admin/users?email=${email}`)).json()) as {
      users: { id: string }[];
    };
    const user = await (await send('GET', `/api/v1/auth/admin/users/${users[0]?.id}`)).json();
    expect(user).toMatchObject({ deletionAt: null, sessions: 0 });
  });

  test('two clicks send one request, and after a network error the next one succeeds', async () => {
    const { link } = await resetLink();
    await using visited = await visit(link);
    const { page } = visited;
    const path = '/api/v1/auth/password/reset/confirm';
    await page.route(`**${path}`, (route) => route.abort(), { times: 1 });
    await page.getByLabel('New password', { exact: true }).fill(newPassword);
    const set = page.getByRole('button', { name: 'Set the password' });
    await set.click();
    await page.getByRole('alert').getByText('The server cannot be reached.').waitFor();
    const before = visited.requestedPaths.filter((requested) => requested === path).length;
    await set.dblclick();
    expect(await status(page)).toContain('Your password was changed.');
    expect(visited.requestedPaths.filter((requested) => requested === path)).toHaveLength(before + 1);
  });

  test.each([
    [429, {}, 'There were too many attempts. Try again in 7 seconds.'],
    [409, { code: 'email_taken' }, 'Another account already uses this email address.'],
    [503, { code: 'busy' }, 'The request failed. Try again.'],
    [502, '<h1>Bad Gateway</h1>', 'The request failed. Try again.'],
  ])('a response with the status %i and %j is shown as a sentence', async (code, body, text) => {
    await using visited = await visit('/account/email/#code');
    const { page } = visited;
    const headers = { 'Retry-After': '7' };
    const responseBody = typeof body === 'string' ? body : JSON.stringify(body);
    await page.route('**/email/verify', (route) =>
      route.fulfill({ status: code, headers, body: responseBody }),
    );
    await page.getByRole('button').click();
    await expect.poll(() => page.getByRole('alert').textContent()).toBe(text);
  });

  test.each([
    ['en-GB', 'en', 'Set a new password'],
    ['de-AT', 'de', 'Neues Passwort festlegen'],
    ['fr-FR', 'en', 'Set a new password'],
  ])('a browser in %s gets pages in %s', async (locale, language, title) => {
    await using visited = await visit('/account/password/#code', { locale });
    const { page } = visited;
    await page.getByRole('heading', { name: title }).waitFor();
    expect(await page.evaluate(() => document.documentElement.lang)).toBe(language);
    expect(await page.title()).toBe(title);
  });

  test('every page fits a phone and a desktop and has no axe violation, in light and dark mode, in both languages', async () => {
    for (const locale of ['en', 'de']) {
      const look: BrowserContextOptions = { locale, bypassCSP: true, reducedMotion: 'reduce' };
      for (const path of ['password/#code', 'password/', 'email/#code', 'deletion/']) {
        await using visited = await visit(`/account/${path}`, look);
        const { page } = visited;
        await page.locator('form, .note').first().waitFor();
        for (const width of [390, 1280]) {
          await page.setViewportSize({ width, height: 844 });
          expect({ path, ...(await pageFaults(page)) }).toEqual({ path, ...noFaults });
        }
      }
    }
  });
});
