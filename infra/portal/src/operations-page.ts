import { html } from './html.ts';

/** The operations page, which its script fills. */
export const operations = html` <main id="content" class="page">
  <noscript><p class="note">This page needs JavaScript.</p></noscript>
</main>`;
