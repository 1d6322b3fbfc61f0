import { html } from './html.ts';

/** The pages for the links in mails, each a form that the script fills in. */
export const accountPages = ['password', 'email', 'deletion'].map((name) => ({
  path: `account/${name}/index.html`,
  title: 'Platform',
  script: 'account',
  style: 'portal',
  body: html`<header class="bar">
      <span class="mark"><img src="/account/icon.svg" alt="" width="26" height="26" />Platform</span>
    </header>
    <main id="content" class="page">
      <noscript
        ><p class="note">
          This page needs JavaScript. <span lang="de">Diese Seite braucht JavaScript.</span>
        </p></noscript
      >
    </main>`,
}));
