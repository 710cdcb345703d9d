package main

// words are the site's own sentences in one language. Everything else on it is read from
// the repository.
type words struct {
	// Code is the language for a browser, and the end of a translation's file name.
	Code string
	// Name is what the language calls itself.
	Name string
	// Pages are the titles of the pages in the menu.
	Pages map[string]string
	// Headline stands above the README's first sentences.
	Headline string
	// These name what is seen with a screen reader alone.
	Skip, Menu, Languages string
	// What is said about the picture, and what in its place without scripts.
	Recorded, RecordedText, NoScript, PictureAlt string
	// What is said about the sources.
	Read, ReadText, Files, Imports, Of, Previous, Next string
	// What stands at the end of each page.
	Made, Source string
}

var english = words{
	Code: "en",
	Name: "English",
	Pages: map[string]string{
		home:        "The picture",
		readingPath: "The code",
		wordsPage:   "Words",
		runPage:     "Run it",
		whyPage:     "By hand or generated",
		resultsPage: "Results",
	},
	Headline:     "How a Kubernetes controller really works",
	Skip:         "Skip to the content",
	Menu:         "Pages",
	Languages:    "Languages",
	Recorded:     "A recorded run",
	RecordedText: "The real controller on a real API server. A Foo is created, scaled, renamed and deleted; in between, somebody deletes its Deployment and scales it behind the controller's back. Pause, go step by step, choose a part to see what it is and where its code stands, or an object for its history.",
	NoScript:     "A script draws the picture, and your browser runs none. This is what it looks like. Everything else on this site can be read without scripts.",
	PictureAlt:   "The parts that an object travels, from the API server through the informer, the queue and the workers to the reconcile and back; beside it the history of a Foo",
	Read:         "Read the code",
	ReadText:     "Each file in this order: its comments beside or above its code, made from the sources as they are.",
	Files:        "All files, in the order in which to read them",
	Imports:      "and its imports",
	Of:           "of",
	Previous:     "Previous",
	Next:         "Next",
	Made:         "Made from the sources by make site.",
	Source:       "This file in the repository",
}

var chinese = words{
	Code: "zh-CN",
	Name: "简体中文",
	Pages: map[string]string{
		home:        "运行图",
		readingPath: "源码",
		wordsPage:   "术语",
		runPage:     "动手运行",
		whyPage:     "手写还是生成",
		resultsPage: "测试结果",
	},
	Headline:     "Kubernetes 控制器究竟是怎样工作的",
	Skip:         "跳到正文",
	Menu:         "页面",
	Languages:    "语言",
	Recorded:     "一次真实运行的回放",
	RecordedText: "真实的控制器，连着真实的 API server。一个 Foo 被创建、扩缩容、改名、删除；其间有人删掉它的 Deployment，还绕过控制器直接修改副本数。可以暂停，也可以单步播放；点击某个部件，看它是什么、代码在哪里；点击某个对象，看它的完整历史。图中文字为英文。",
	NoScript:     "这张图由脚本绘制，而你的浏览器没有运行脚本。下面是它的样子。本站其余内容不需要脚本也能阅读。",
	PictureAlt:   "一个对象经过的各个部件：从 API server 到 informer、队列、worker，再到 reconcile，最后写回 API server；旁边是某个 Foo 的历史记录",
	Read:         "阅读源码",
	ReadText:     "按这个顺序逐个文件阅读：注释在代码旁边或上方，直接由源文件生成。注释保持英文。",
	Files:        "全部文件，按推荐的阅读顺序",
	Imports:      "及其 import",
	Of:           "/",
	Previous:     "上一个",
	Next:         "下一个",
	Made:         "由 make site 根据源码生成。",
	Source:       "在代码仓库中查看此文件",
}
