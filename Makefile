# Two commands: `make demo` and `make test`. Each sets up all that it needs in .venv.
PYTHON ?= python3
BIN := .venv/bin
READY := .venv/.ready

.PHONY: browser demo demos docs gallery test test-slow bench bench-softmax bench-voted peers printers lint clean
MNIST ?= ../shared/data/mnist

demo: $(READY)
	$(BIN)/python -m separatrix demo

demos: demo
	$(BIN)/python demo/breast_cancer.py
	$(BIN)/python demo/separability.py
	$(BIN)/python demo/perceptron.py
	$(BIN)/python demo/kernel.py
	$(BIN)/python demo/reductions.py
	$(BIN)/python demo/inference.py
	$(BIN)/python demo/surrogates.py
	$(BIN)/python demo/plots.py

test: $(READY) lint browser
	$(BIN)/python -m pytest -n auto --dist worksteal -m "not slow"

# Debian's Chromium where this may install it, else Playwright's own, else words: the tests then skip, and say why.
browser: $(READY)
	@command -v chromium >/dev/null || command -v google-chrome >/dev/null \
		|| { [ "$$(id -u)" = 0 ] && command -v apt-get >/dev/null \
			&& echo "Installing Debian's chromium for the tests of the report ..." \
			&& { apt-get install -y -qq chromium >/dev/null 2>&1 \
				|| { apt-get update -qq >/dev/null 2>&1 && apt-get install -y -qq chromium >/dev/null 2>&1; }; }; } \
		|| $(BIN)/python -m playwright install chromium >/dev/null 2>&1 \
		|| echo "No Chromium could be installed: the tests in tests/browser will skip."

test-slow: $(READY) peers printers
	$(BIN)/python -m pytest -n auto --dist loadgroup -m slow

docs: $(READY) printers
	@rm -rf docs/api docs/auto_gallery
	$(BIN)/python -m sphinx -W --keep-going -n -b html -d out/docs/doctrees docs out/docs/html
	@echo "The site: out/docs/html/index.html"

gallery: $(READY)
	$(BIN)/python docs/run_gallery.py

lint: $(READY)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports

bench: $(READY) peers
	$(BIN)/python benchmarks/dense.py
	$(BIN)/python benchmarks/small.py
	-$(BIN)/python benchmarks/cliffs.py
	$(BIN)/python benchmarks/online.py
	$(BIN)/python benchmarks/separability.py
	$(BIN)/python benchmarks/closed.py
	$(BIN)/python benchmarks/inference.py
	$(BIN)/python benchmarks/tables.py
	$(BIN)/python benchmarks/check.py $(if $(wildcard $(MNIST)),--mnist $(MNIST))

bench-softmax: $(READY) peers
	$(BIN)/python benchmarks/softmax.py --mnist $(MNIST)

bench-voted: $(READY) peers
	$(BIN)/python benchmarks/voted_mnist.py --mnist $(MNIST)

peers: $(READY)
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-input --root-user-action=ignore \
		-c constraints.txt -e ".[bench]"

printers: $(READY)
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-input --root-user-action=ignore \
		-c constraints.txt -e ".[docs]"

$(READY): pyproject.toml constraints.txt
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' \
		|| { echo "Python 3.11 or newer is needed; say which with: make PYTHON=/path/to/python3 $(MAKECMDGOALS)"; exit 1; }
	@$(PYTHON) -c 'import venv, ensurepip' \
		|| { echo "This Python has no venv module; install it (on Debian: python3-venv) and run make again."; exit 1; }
	@echo "Setting up .venv (a minute or two the first time) ..."
	$(PYTHON) -m venv .venv
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-input --root-user-action=ignore \
		-c constraints.txt -e ".[cli,report,test]"
	@touch $(READY)

clean:
	rm -rf .venv build out docs/api docs/auto_gallery .mypy_cache .ruff_cache .pytest_cache .hypothesis .import_linter_cache
