// Both languages of the playground, of which the page shows one.

import {byId, el, say} from '../../internal/page/static/dom.js';

/** A text in both languages, as elements. */
export const both = ([en, zh]) => [el('span', {lang: 'en'}, en), el('span', {lang: 'zh-CN'}, zh)];

/** Puts a text in both languages in, if it is another one. */
export function sayBoth(element, text) {
  if (element.textContent !== text.join('')) {
    element.replaceChildren(...both(text));
  }
}

/** Who writes, in words. A process of the controller is the controller. */
export const who = (by) => ({
  you: ['you', '你'],
  'the garbage collector': ['the garbage collector', '垃圾回收器'],
  'another client': ['another client', '另一个客户端'],
}[by] ?? ['the controller', '控制器']);

/** A duration in milliseconds. */
export const lasted = (ms) => (ms < 1000 ? [`${Math.max(1, Math.round(ms))} ms`, `${Math.max(1, Math.round(ms))} 毫秒`] : [`${(ms / 1000).toFixed(1)} s`, `${(ms / 1000).toFixed(1)} 秒`]);

const page = document.documentElement;
function speak(language) {
  page.dataset.speaks = language;
  page.lang = language === 'en' ? 'en' : 'zh-CN';
  document.title = language === 'en' ? 'A Kubernetes controller in a browser tab · byhand' : '浏览器标签页里的 Kubernetes 控制器 · byhand';
  say(byId('language'), language === 'en' ? '本页中文' : 'In English');
  byId('language').lang = language === 'en' ? 'zh-CN' : 'en';
  try {
    localStorage.setItem('speaks', language);
  } catch { /* not allowed here */ }
}
byId('language').addEventListener('click', () => speak(page.dataset.speaks === 'en' ? 'zh' : 'en'));
speak(page.dataset.speaks);
